package feed

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// benchConfig is what the column config of Spare Cores says of a run.
type benchConfig struct {
	// threads is how many ran; 0 if it does not say. Partial tells that these were
	// not all vCPUs in any case.
	threads int
	partial bool
	// version is that of the benchmark; older rows have it here.
	version string
	// variant tells runs apart that do not compare, as "key:value" by key.
	variant []string
}

// readConfig reads a JSON object such as {"algo": "sha256", "block_size": 16384}.
// The number of threads is not part of the variant: only runs on all vCPUs count,
// and these compare between sizes of a machine.
func readConfig(text string) (benchConfig, *Fault) {
	var config benchConfig
	if text == "" {
		return config, nil
	}
	values, fault := object([]byte(text))
	if fault != nil {
		return config, fault.within("config")
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := canonical(values[key])
		switch key {
		case "framework_version":
			config.version = value
		case "cores", "threads":
			config.count(value)
		default:
			if value != "" {
				config.variant = append(config.variant, key+":"+value)
			}
		}
	}
	return config, nil
}

// count takes how many threads ran: a number, or e.g. "Single-Core Performance".
// The compressors mean one by 0.
func (c *benchConfig) count(said string) {
	n, err := strconv.ParseFloat(said, 64)
	if err != nil {
		c.partial = c.partial || strings.Contains(strings.ToLower(said), "single")
		return
	}
	if isCount := n >= 1 && n <= math.MaxInt32; !isCount || c.threads != 0 && c.threads != int(n) {
		c.partial = true
		return
	}
	c.threads = int(n)
}

// canonical is the text of a JSON value, the same for 64 and 64.0.
func canonical(value json.RawMessage) string {
	text := plain(value)
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return text
}
