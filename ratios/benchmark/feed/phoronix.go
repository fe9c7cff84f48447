package feed

import (
	"bufio"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// phoronixResult is what phoronix-test-suite writes with result-file-to-json.
type phoronixResult struct {
	Systems map[string]struct {
		Hardware  map[string]string `json:"hardware"`
		Timestamp string            `json:"timestamp"`
	} `json:"systems"`
	Results map[string]phoronixTest `json:"results"`
}

// phoronixTest is one test on several systems.
type phoronixTest struct {
	Identifier  string `json:"identifier"`
	Description string `json:"description"`
	Proportion  string `json:"proportion"`
	AppVersion  string `json:"app_version"`
	Results     map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"results"`
}

var phoronixNames = map[string]string{"instanceType": "identifier", "vcpus": "Processor"}

// phoronixTopology matches the end of a processor such as "AMD EPYC 7B13 (4 Cores / 8 Threads)".
var phoronixTopology = regexp.MustCompile(`^(.*?)(?: @ [^(]*)? \((\d+) Cores?(?: / (\d+) Threads)?\)`)

// readPhoronix reads the results of several systems. Each result of a test is a row.
func readPhoronix(in *bufio.Reader, c *collector) error {
	var p phoronixResult
	if err := document(in, &p); err != nil {
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(p.Results)) {
		test := p.Results[hash]
		for _, system := range slices.Sorted(maps.Keys(test.Results)) {
			c.result.Rows++
			if fault := c.phoronix(&p, &test, system); fault != nil {
				c.fault(documentLine, 1, fault.of(test.Identifier, system))
			}
		}
	}
	c.finish("phoronix", phoronixNames)
	return nil
}

func (c *collector) phoronix(p *phoronixResult, t *phoronixTest, system string) *Fault {
	machine := p.Systems[system]
	processor := machine.Hardware["Processor"]
	// Every row searches them again.
	if fault := cmp.Or(tooLong("identifier", t.Identifier), tooLong("description", t.Description), tooLong("Processor", processor)); fault != nil {
		return fault
	}
	name := t.Identifier
	if i := strings.LastIndex(name, "-"); i > 0 && strings.Trim(name[i+1:], "0123456789.") == "" {
		name = name[:i] // The version of the test profile.
	}
	of, test, fault := c.suite(name, func(key string) string { return phoronixSetting(t.Description, key) })
	if fault != nil {
		return fault
	}
	value := record(func(string) string { return plain(t.Results[system].Value) })
	score, fault := value.number("value")
	if fault != nil {
		return fault
	}
	if strings.EqualFold(t.Proportion, "LIB") { // Lower is better.
		score = 1 / score
	}
	observed, fault := record(func(string) string { return machine.Timestamp }).moment("timestamp", c.options.Now)
	if fault != nil {
		return fault
	}
	server, model := phoronixServer(processor)
	if server.InstanceType = c.options.InstanceType; server.InstanceType == "" {
		server.InstanceType = system
	}
	key := machineKey{name: system, suite: of.Name, version: of.Comparable(t.AppVersion), cpuModel: model}
	return c.take(documentLine, row{machineKey: key, suite: of, test: test, run: run{score, observed, true}, server: server}, phoronixNames)
}

// phoronixServer returns what the description of a processor says about the machine.
func phoronixServer(processor string) (Server, string) {
	m := phoronixTopology.FindStringSubmatch(processor)
	if m == nil {
		return Server{}, nodetype.ModelName(processor)
	}
	cores, _ := strconv.Atoi(m[2]) // Digits, which can only be too many.
	threads, _ := strconv.Atoi(m[3])
	threads = cmp.Or(threads, cores)
	s := Server{VCPUs: threads}
	if cores > 0 && threads%cores == 0 {
		s.ThreadsPerCore = threads / cores
	}
	return s, nodetype.ModelName(m[1])
}

// phoronixSetting returns the value of a setting in a description such as "Test: Compression
// Rating - Time: 60", in lower case.
func phoronixSetting(description, key string) string {
	for part := range strings.SplitSeq(strings.ToLower(description), " - ") {
		if name, value, found := strings.Cut(part, ":"); found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
