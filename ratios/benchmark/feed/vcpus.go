package feed

import (
	"cmp"
	"regexp"
	"strconv"
)

// vcpus returns the number of vCPUs of an instance type: from the row, or else from the
// options, or else from the name of the type.
func (o *Options) vcpus(said int, field, instanceType string) (int, *Fault) {
	n := cmp.Or(said, o.VCPUs[instanceType], vcpusByName(instanceType))
	if n == 0 {
		return 0, &Fault{Field: field, Code: UnknownVCPUs, Reason: "is not known for " + quoted(instanceType) + ": add a column, or name the type in vcpus of the feed (--vcpus)"}
	}
	return n, nil
}

var (
	// googleSize matches e.g. n4-standard-8, c3-standard-4-lssd or
	// e2-custom-4-8192. Named sizes (e2-micro) and sizes with accelerators
	// (a2-highgpu-1g) do not contain the number of vCPUs.
	googleSize = regexp.MustCompile(`^(?:[a-z]\d[a-z]*-)?(?:standard|highcpu|highmem|megamem|ultramem|hypermem|custom)-(\d{1,4})(?:-[a-z0-9-]+)?$`)
	// azureSize matches e.g. Standard_D8as_v5 or, with fewer active vCPUs,
	// Standard_E32-16s_v3.
	azureSize = regexp.MustCompile(`^(?:Standard|Basic)_[A-Z]+(\d{1,4})(?:-(\d{1,4}))?[a-z]*(?:_\w+)?$`)
	// azureOrdinal matches old sizes whose number is only an ordinal: D3_v2 has four
	// vCPUs.
	azureOrdinal = regexp.MustCompile(`^(?:Standard|Basic)_(?:[AG]S?\d+|DS?\d+(?:_v2)?)(?:_Promo)?$`)
)

// vcpusByName returns the number of vCPUs that the name of an instance type of Google, Azure or
// AWS stands for; 0 for other names.
func vcpusByName(instanceType string) int {
	if n := amazonVCPUs(instanceType); n > 0 {
		return n
	}
	var digits string
	if m := googleSize.FindStringSubmatch(instanceType); m != nil {
		digits = m[1]
	} else if m := azureSize.FindStringSubmatch(instanceType); m != nil && !azureOrdinal.MatchString(instanceType) {
		digits = cmp.Or(m[2], m[1])
	}
	n, _ := strconv.Atoi(digits) // Without digits, n is 0.
	return n
}
