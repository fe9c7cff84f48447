package feed

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// benchConfig is the content of the column config of Spare Cores for a run.
type benchConfig struct {
	// threads is the number of threads that ran; 0 if it is not stated. partial
	// means that the run certainly did not use all vCPUs.
	threads int
	partial bool
	// version is the version of the benchmark; older rows have it here.
	version string
	// variant distinguishes runs that cannot be compared, as "key:value" by key.
	variant []string
}

// readConfig reads a JSON object such as {"algo": "sha256", "block_size": 16384}.
// The number of threads is not part of the variant: only runs on all vCPUs count, and these can
// be compared between sizes of a machine.
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

// count records how many threads ran: a number, or e.g. "Single-Core Performance". For
// compressors, 0 means one thread.
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

// canonical returns the text of a JSON value, with the same text for 64 and 64.0.
func canonical(value json.RawMessage) string {
	text := plain(value)
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return text
}
