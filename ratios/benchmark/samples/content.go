package samples

import (
	"encoding/json"
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
	// text has one line of JSON per sample.
	text string
	rows []row
}

// row is a sample and its line.
type row struct {
	sample.Sample
	line string
}

// bytes returns the size of the row in the ConfigMap.
func (r *row) bytes() int { return len(r.line) + 1 }

// encode converts a sample to a row.
func encode(s sample.Sample) (row, error) {
	line, err := json.Marshal(s)
	if err != nil {
		return row{}, fmt.Errorf("write sample %q: %w", s.ID, err)
	}
	return row{s, string(line)}, nil
}

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
	for _, nodeType := range slices.Sorted(maps.Keys(data)) {
		if known := p.last[nodeType]; known != nil && known.text == data[nodeType] {
			c[nodeType] = known
			continue
		}
		if right := shardOf(nodeType); right != p.shard {
			faults = append(faults, fmt.Errorf("key %s: belongs in %s", nodeType, p.config.name(right)))
			continue
		}
		e, wrong := parseEntry(nodeType, data[nodeType], p.last[nodeType])
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

// parseEntry reads the samples of a node type. It reuses the lines of the previous entry, if
// any: a write changes few of many lines.
func parseEntry(nodeType, text string, before *entry) (*entry, document.Faults) {
	known := map[string]sample.Sample{}
	if before != nil {
		for _, r := range before.rows {
			known[r.line] = r.Sample
		}
	}
	e := &entry{text: text}
	var faults document.Faults
	ids := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		s, ok := known[line]
		var err error
		if !ok {
			s, err = parseLine(nodeType, line)
		}
		if err == nil && ids[s.ID] {
			err = fmt.Errorf("duplicate id %q", s.ID)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("key %s, line %d: %w", nodeType, number, err))
			continue
		}
		ids[s.ID] = true
		e.rows = append(e.rows, row{s, line})
	}
	return e, faults
}

func parseLine(nodeType, line string) (sample.Sample, error) {
	s, err := decode(line)
	if err != nil {
		return s, err
	}
	if s.NodeType != nodeType {
		return s, fmt.Errorf("nodeType is %q, but must match the key", s.NodeType)
	}
	// The time was validated when the sample was added, possibly with a clock that
	// was ahead.
	if faults := s.Validate(s.Time); len(faults) > 0 {
		return s, faults[0]
	}
	return s, nil
}

// decode reads what encode writes.
func decode(line string) (sample.Sample, error) {
	var s sample.Sample
	unknown, err := strictjson.UnmarshalStrict([]byte(line), &s)
	if err != nil {
		return s, fmt.Errorf("read JSON: %w", err)
	}
	return normal(s), document.Faults(unknown).Err()
}
