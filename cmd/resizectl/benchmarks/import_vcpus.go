package benchmarks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxVCPUs is the maximum number of vCPUs of a machine.
const maxVCPUs = 4096

// vcpusFlag is the value of a flag with the numbers of vCPUs by instance type.
type vcpusFlag map[string]int

// String implements pflag.Value.
func (v vcpusFlag) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		all = append(all, fmt.Sprintf("%s=%d", name, v[name]))
	}
	return strings.Join(all, ",")
}

// Set implements pflag.Value. It adds to what was set before.
func (v vcpusFlag) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, found := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); !found || name == "" {
			return errors.New("must be instance types with their vCPUs, such as m7i.large=2,m7i.xlarge=4")
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > maxVCPUs {
			return fmt.Errorf("%s must have 1 to %d vCPUs, not %q", name, maxVCPUs, number)
		}
		v[name] = n
	}
	return nil
}

// Type implements pflag.Value.
func (v vcpusFlag) Type() string { return "m7i.large=2" }
