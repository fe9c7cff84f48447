package size

import (
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// written splits an amount into its whole number, its fraction and its unit. Others, such as 1e3, have no notation that
// could be kept.
var written = regexp.MustCompile(`^(\d+)(\.\d*)?([A-Za-z]{0,2})$`)

// units has how much units stand for, in millicores and in bytes.
var units = map[*sizing.Measure]map[string]int64{
	sizing.CPU: {"": 1000, "m": 1},
	sizing.Memory: {
		"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
		"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50,
	},
}

// Like returns an amount in the notation of another text if that is exact, or else as Kubernetes writes it.
func Like(old string, m *sizing.Measure, amount int64) string {
	if strings.HasPrefix(old, ".") {
		old = "0" + old
	}
	match := written.FindStringSubmatch(old)
	if match == nil {
		return usual(m, amount)
	}
	unit, known := units[m][match[3]]
	switch {
	case !known:
	case amount%unit == 0:
		return strconv.FormatInt(amount/unit, 10) + match[3]
	case match[2] != "" && unit > 1: // With as many decimals as it needs, up to three.
		if rest := amount % unit; rest <= (1<<63-1)/1000 && rest*1000%unit == 0 {
			decimals := strconv.FormatInt(1000+rest*1000/unit, 10)[1:]
			return strconv.FormatInt(amount/unit, 10) + "." + strings.TrimRight(decimals, "0") + match[3]
		}
	}
	return usual(m, amount)
}

// usual returns an amount as Kubernetes writes it.
func usual(m *sizing.Measure, amount int64) string {
	if m == sizing.CPU {
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	}
	return resource.NewQuantity(amount, resource.BinarySI).String()
}
