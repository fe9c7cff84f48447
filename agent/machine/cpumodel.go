package machine

import "github.com/workload-resizer/workload-resizer/ratios/nodetype"

// vendors maps vendors in /proc/cpuinfo to their names in Node Feature Discovery.
var vendors = map[string]string{
	"GenuineIntel": "Intel",
	"AuthenticAMD": "AMD",
	"HygonGenuine": "Hygon",
}

// cpuModel returns the name of a CPU model, valid as a label value. For x86, it consists of
// vendor, family, model and stepping; Linux includes the extended family and model in these, as
// NFD does. Only the stepping distinguishes some generations: Intel 6-85 is Skylake, Cascade Lake
// or Cooper Lake. For Arm, it consists of implementer and part. It is empty if any of them but the
// stepping is missing.
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
	name := vendor + "-" + family + "-" + model
	if stepping := info["stepping"]; stepping != "" {
		name += "-" + stepping
	}
	return nodetype.ModelName(name)
}
