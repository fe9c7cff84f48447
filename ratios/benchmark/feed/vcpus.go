package feed

import (
	"cmp"
	"regexp"
	"strconv"
)

// vcpus is how many an instance type has: what the row says, else the feed, else
// the name of the type as far as it does.
func (o *Options) vcpus(said int, field, instanceType string) (int, *Fault) {
	n := cmp.Or(said, o.VCPUs[instanceType], vcpusByName(instanceType))
	if n == 0 {
		return 0, &Fault{Field: field, Reason: "is not known of " + quoted(instanceType) + ": add a column, or name it in the feed's vcpus"}
	}
	return n, nil
}

var (
	// googleSize is e.g. n4-standard-8, c3-standard-4-lssd or e2-custom-4-8192.
	// Sizes with a name (e2-micro) or with accelerators (a2-highgpu-1g) do not say.
	googleSize = regexp.MustCompile(`^(?:[a-z]\d[a-z]*-)?(?:standard|highcpu|highmem|megamem|ultramem|hypermem|custom)-(\d{1,4})(?:-[a-z0-9-]+)?$`)
	// azureSize is e.g. Standard_D8as_v5 or, with fewer active vCPUs,
	// Standard_E32-16s_v3.
	azureSize = regexp.MustCompile(`^(?:Standard|Basic)_[A-Z]+(\d{1,4})(?:-(\d{1,4}))?[a-z]*(?:_\w+)?$`)
	// azureOrdinal is the old sizes of which the number only counts them: D3_v2 has
	// four.
	azureOrdinal = regexp.MustCompile(`^(?:Standard|Basic)_(?:[AG]S?\d+|DS?\d+(?:_v2)?)(?:_Promo)?$`)
)

// vcpusByName is what the name of an instance type says as Google and Azure build
// it; 0 if it does not, as with AWS, where one size differs between families.
func vcpusByName(instanceType string) int {
	var digits string
	if m := googleSize.FindStringSubmatch(instanceType); m != nil {
		digits = m[1]
	} else if m := azureSize.FindStringSubmatch(instanceType); m != nil && !azureOrdinal.MatchString(instanceType) {
		digits = cmp.Or(m[2], m[1])
	}
	n, _ := strconv.Atoi(digits) // No digits are 0.
	return n
}
