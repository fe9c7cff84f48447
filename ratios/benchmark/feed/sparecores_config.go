package feed

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// benchConfig is the content of the column config of Spare Cores for a run.
type benchConfig struct {
	// threads is the number of threads that ran; 0 if all vCPUs did or it is not stated.
	// partial means that the run certainly used neither all vCPUs nor one.
	threads int
	partial bool
	// version is the version of the benchmark; older rows have it here.
	version string
	values  map[string]json.RawMessage
}

// setting returns the value of a key, with the same text for 64 and 64.0.
func (c *benchConfig) setting(key string) string { return canonical(c.values[key]) }

// readConfig reads a JSON object such as {"algo": "sha256", "block_size": 16384}.
func readConfig(text string) (benchConfig, *Fault) {
	var config benchConfig
	if text == "" {
		return config, nil
	}
	values, fault := object([]byte(text))
	if fault != nil {
		return config, fault.within("config")
	}
	config.values = values
	config.version = config.setting("framework_version")
	for _, key := range []string{"cores", "threads"} {
		if said := config.setting(key); said != "" {
			config.count(said)
		}
	}
	return config, nil
}

// count records how many threads ran: a number, "multi", or e.g. "Single-Core Performance". For
// compressors, 0 means one thread.
func (c *benchConfig) count(said string) {
	n, err := strconv.ParseFloat(said, 64)
	switch {
	case err == nil && n == 0:
		n = 1
	case err != nil && strings.Contains(strings.ToLower(said), "single"):
		n = 1
	case err != nil:
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
