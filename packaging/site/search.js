/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Search for pages that are opened as files: browsers neither fetch files nor start workers from
 * them. The index comes as a script, and the worker's script runs in a hidden frame.
 */
if (location.protocol === "file:") {
	const base = document.currentScript.src.replace(/[^/]*$/, "");

	document.write('<script src="' + base + 'search_index.js"><\/script>');
	window.Worker = class extends EventTarget {
		constructor(url)
		{
			super();
			this.frame = document.createElement("iframe");
			this.frame.hidden = true;
			this.ready = new Promise(resolve => {
				this.frame.onload = () => {
					const inner = this.frame.contentWindow;
					const script = inner.document.createElement("script");

					this.frame.onload = null;
					inner.postMessage = data => this.dispatchEvent(
						new MessageEvent("message", { data }));
					script.src = url;
					script.onload = resolve;
					inner.document.body.append(script);
				};
			});
			document.body.append(this.frame);
		}
		postMessage(data)
		{
			this.ready.then(() => {
				const inner = this.frame.contentWindow;

				inner.dispatchEvent(new inner.MessageEvent("message", { data }));
			});
		}
		terminate()
		{
			this.frame.remove();
		}
	};
}
