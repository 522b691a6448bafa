-- Three tables as micro-benchmarks give them, entered by the documented schema
-- (docs/database.md): sweeps of bandwidth and latency, cost of registration.
INSERT INTO run(id, command, version, seed, scenario, arguments, finished)
	VALUES (1000, 'bench', 'none', '1', '', 'as if', CURRENT_TIMESTAMP);
INSERT INTO result VALUES
	(100000, 1000, 'bandwidth', 'one way, by message size', 'series'),
	(100001, 1000, 'latency', 'half a round trip, by message size', 'series'),
	(100002, 1000, 'registration', 'cost of memory registration', 'series');
INSERT INTO field VALUES
	(900000, 100000, 0, 'size', 'B', 'given', 'uint', 0),
	(900001, 100000, 1, 'operation', '', 'given', 'text', 0),
	(900002, 100000, 2, 'bandwidth', 'MB/s', 'simulated', 'real', 1),
	(900003, 100001, 0, 'size', 'B', 'given', 'uint', 0),
	(900004, 100001, 1, 'operation', '', 'given', 'text', 0),
	(900005, 100001, 2, 'latency', 'us', 'simulated', 'real', 3),
	(900006, 100001, 3, 'latency +-', 'us', 'simulated', 'real', 3),
	(900007, 100002, 0, 'size', 'B', 'given', 'uint', 0),
	(900008, 100002, 1, 'register', 'us', 'measured', 'real', 2),
	(900009, 100002, 2, 'deregister', 'us', 'measured', 'real', 2);
WITH RECURSIVE step(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM step WHERE i < 20)
INSERT INTO cell
	SELECT 900000, 2 * i, 1 << i FROM step UNION ALL
	SELECT 900000, 2 * i + 1, 1 << i FROM step UNION ALL
	SELECT 900001, 2 * i, 'send' FROM step UNION ALL
	SELECT 900001, 2 * i + 1, 'RDMA write' FROM step UNION ALL
	SELECT 900002, 2 * i, 12000.0 * (1 << i) / ((1 << i) + 3000.0) FROM step UNION ALL
	SELECT 900002, 2 * i + 1, 12200.0 * (1 << i) / ((1 << i) + 2000.0) FROM step UNION ALL
	SELECT 900003, 2 * i, 1 << i FROM step UNION ALL
	SELECT 900003, 2 * i + 1, 1 << i FROM step UNION ALL
	SELECT 900004, 2 * i, 'send' FROM step UNION ALL
	SELECT 900004, 2 * i + 1, 'RDMA write' FROM step UNION ALL
	SELECT 900005, 2 * i, 1.2 + (1 << i) / 12000.0 FROM step UNION ALL
	SELECT 900005, 2 * i + 1, 1.0 + (1 << i) / 12200.0 FROM step UNION ALL
	SELECT 900006, 2 * i, 0.1 FROM step UNION ALL
	SELECT 900006, 2 * i + 1, NULL FROM step UNION ALL
	SELECT 900007, i, 4096 << i FROM step UNION ALL
	SELECT 900008, i, 2.0 + 0.15 * (1 << i) FROM step UNION ALL
	SELECT 900009, i, 1.0 + 0.05 * (1 << i) FROM step;
