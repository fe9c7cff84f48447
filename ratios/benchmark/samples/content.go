package samples

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	strictjson "sigs.k8s.io/json"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// content is the content of a shard by node type, which is also the key in the data of the
// ConfigMap. It is immutable.
type content map[string]*entry

func (c content) count() int {
	count := 0
	for _, e := range c {
		count += len(e.rows)
	}
	return count
}

// entry is the samples of a node type.
type entry struct {
	// text has lines with samples.
	text string
	// rows are in the order of inOrder.
	rows []row
	// packed means that text is one packed line. unpacked is the size of all packed lines,
	// unpacked.
	packed   bool
	unpacked int
}

// row is a sample in the form in which it is stored: see normal.
type row struct{ sample.Sample }

// inOrder orders rows by key, the newest first.
func inOrder(a, b row) int { return cmp.Or(a.key().compare(b.key()), newestFirst(a, b)) }

// maxFaults is the maximum number of reported faults per shard.
const maxFaults = 10

// parser reads the data of one shard. It does not parse unchanged text again, so that entries
// with the same text are equal by ==.
type parser struct {
	config *Config
	shard  int

	mu   sync.Mutex
	last content
}

func (p *parser) parse(data map[string]string) (content, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := make(content, len(data))
	var faults document.Faults
	left := budget{bytes: maxUnpacked, samples: maxSamples}
	for _, nodeType := range slices.Sorted(maps.Keys(data)) {
		if known := p.last[nodeType]; known != nil && known.text == data[nodeType] {
			c[nodeType] = known
			left.samples -= len(known.rows)
			left.bytes -= known.unpacked
			continue
		}
		if right := shardOf(nodeType); right != p.shard {
			faults = append(faults, fmt.Errorf("key %s: belongs in %s", nodeType, p.config.name(right)))
			continue
		}
		e, wrong := parseEntry(nodeType, data[nodeType], p.last[nodeType], &left)
		c[nodeType], faults = e, append(faults, wrong...)
	}
	if len(faults) > maxFaults {
		faults = append(faults[:maxFaults:maxFaults], fmt.Errorf("and %d more faults", len(faults)-maxFaults))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p.last = c
	return c, nil
}

// parseEntry reads the samples of a node type. It does not validate again those of the previous
// entry, if any: a write changes few of many samples.
func parseEntry(nodeType, text string, before *entry, left *budget) (*entry, document.Faults) {
	known := map[sample.Sample]bool{}
	if before != nil {
		for _, r := range before.rows {
			known[r.Sample] = true
		}
	}
	e := &entry{text: text, packed: strings.HasPrefix(text, packed) && !strings.Contains(text, "\n")}
	var faults document.Faults
	ids := map[string]bool{}
	number, allowed := 0, left.bytes
	for line := range strings.Lines(text) {
		number++
		all, err := parseLine(strings.TrimSpace(line), left)
		if left.samples -= len(all); err == nil && left.samples < 0 {
			err = fmt.Errorf("the ConfigMap has more than %d samples", maxSamples)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("key %s, line %d: %s", nodeType, number, brief(err)))
			continue
		}
		for i, s := range all {
			if !known[s] {
				err = check(&s, nodeType)
			}
			if err == nil && ids[s.ID] {
				err = fmt.Errorf("duplicate id %q", s.ID)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("key %s, line %d%s: %s", nodeType, number, place(i, all), brief(err)))
				break // A packed line may have the same fault in all of its samples.
			}
			ids[s.ID] = true
			e.rows = append(e.rows, row{s})
		}
	}
	slices.SortFunc(e.rows, inOrder)
	e.unpacked = allowed - left.bytes
	return e, faults
}

// place returns where in its line a sample is.
func place(i int, line []sample.Sample) string {
	if len(line) == 1 {
		return ""
	}
	return fmt.Sprintf(", sample %d", i+1)
}

// brief returns the text of an error that may contain what is wrong, which may be long.
func brief(err error) string {
	const most = 300
	text := err.Error()
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// parseLine reads the samples of a line.
func parseLine(line string, left *budget) ([]sample.Sample, error) {
	switch {
	case line == "":
		return nil, nil
	case strings.HasPrefix(line, packed):
		return unpack(line, left)
	}
	var s sample.Sample
	unknown, err := strictjson.UnmarshalStrict([]byte(line), &s)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return []sample.Sample{normal(s)}, document.Faults(unknown).Err()
}

// check returns why a stored sample of a node type is invalid.
func check(s *sample.Sample, nodeType string) error {
	if s.NodeType != nodeType {
		return fmt.Errorf("nodeType is %q, but must match the key", s.NodeType)
	}
	// The time was validated when the sample was added, possibly with a clock that
	// was ahead.
	if faults := s.Validate(s.Time); len(faults) > 0 {
		return faults[0]
	}
	return nil
}
