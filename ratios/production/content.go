package production

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// content is what the ConfigMap stores. It is immutable.
type content struct {
	// Time is when the suggestions were made; zero if there are none. Baseline is the node type that they are relative to.
	Time        time.Time    `json:"time,omitzero"`
	Baseline    string       `json:"baseline,omitempty"`
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	// Published are the ratios that apply.
	measured.Published
}

// parse reads the data of the ConfigMap.
func parse(data map[string]string) (content, error) {
	var c content
	if err := measured.Parse(data, &c); err != nil {
		return content{}, err
	}
	faults := c.Check()
	for i := range c.Suggestions {
		if err := c.Suggestions[i].check(); err != nil {
			faults = append(faults, fmt.Errorf("%s: suggestions[%d]: %w", measured.Key, i, err))
		}
	}
	slices.SortFunc(c.Suggestions, func(a, b Suggestion) int { return strings.Compare(a.NodeType, b.NodeType) })
	for i := 1; i < len(c.Suggestions); i++ {
		if name := c.Suggestions[i].NodeType; name == c.Suggestions[i-1].NodeType {
			faults = append(faults, fmt.Errorf("%s: two suggestions are for node type %q", measured.Key, name))
		}
	}
	return c, faults.Err()
}

// layer returns the ratios that apply as a layer, and those that are only shown as observed.
func (c *content) layer() *ratios.Layer {
	l := c.Layer(Source, author)
	if l.RelativeTo == "" {
		l.RelativeTo = c.Baseline
	}
	if l.RelativeTo != c.Baseline {
		return l
	}
	for i := range c.Suggestions {
		s := &c.Suggestions[i]
		if _, applies := l.Ratios[s.NodeType]; applies || !s.Known() {
			continue
		}
		if l.Observed == nil {
			l.Observed = make(map[string]ratios.Ratio, len(c.Suggestions))
		}
		l.Observed[s.NodeType] = ratios.Ratio{
			CPUPerf: measured.Significant(s.Cluster.Ratio), Provenance: ratios.Provenance{Source: Source, Author: author, Reason: s.Why()},
		}
	}
	return l
}

// author is who changes the ratios of this source.
const author = "production"
