package machine

import "github.com/workload-resizer/workload-resizer/ratios/nodetype"

// vendors are what Node Feature Discovery calls those that /proc/cpuinfo names.
var vendors = map[string]string{
	"GenuineIntel": "Intel",
	"AuthenticAMD": "AMD",
	"HygonGenuine": "Hygon",
}

// cpuModel names a CPU model so that it can be the value of a label: vendor,
// family and model of x86 (Linux has the extended ones added up, as NFD has),
// implementer and part of Arm; empty if any of them is missing.
func cpuModel(info map[string]string) string {
	vendor, family, model := info["vendor_id"], info["cpu family"], info["model"]
	if name, known := vendors[vendor]; known {
		vendor = name
	}
	if implementer, part := info["CPU implementer"], info["CPU part"]; implementer != "" && part != "" {
		vendor, family, model = "ARM", implementer, part
	}
	if vendor == "" || family == "" || model == "" {
		return ""
	}
	return nodetype.ModelName(vendor + "-" + family + "-" + model)
}
