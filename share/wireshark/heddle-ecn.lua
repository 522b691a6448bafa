-- SPDX-License-Identifier: BSD-2-Clause
--
-- FECN and BECN for Wireshark, which shows no field for them: the two top bits
-- of the fifth byte of an InfiniBand or RoCEv2 base transport header.
--
--   wireshark -X lua_script:heddle-ecn.lua run.pcap
--   tshark -X lua_script:heddle-ecn.lua -r run.pcap -Y 'heddle.fecn == 1'
--
-- To load it always, copy it to the folder that Help > About > Folders calls
-- "Personal Lua Plugins".

local ecn = Proto("heddle_ecn", "InfiniBand congestion notification")

local fecn = ProtoField.bool("heddle.fecn", "FECN", 8, nil, 0x80,
	"forward explicit congestion notification: met congestion")
local becn = ProtoField.bool("heddle.becn", "BECN", 8, nil, 0x40,
	"backward explicit congestion notification: slow down")
ecn.fields = { fecn, becn }

local bth = Field.new("infiniband.bth")

function ecn.dissector(tvb, pinfo, tree)
	for _, header in ipairs({ bth() }) do
		local range = header.range
		if range and range:len() >= 5 then
			local byte = range(4, 1)
			local value = byte:uint()
			local sub = tree:add(ecn, byte)
			sub:add(fecn, byte)
			sub:add(becn, byte)
			if value >= 0x80 then
				pinfo.cols.info:append(" [FECN]")
			end
			if value % 0x80 >= 0x40 then
				pinfo.cols.info:append(" [BECN]")
			end
		end
	end
end

register_postdissector(ecn)
