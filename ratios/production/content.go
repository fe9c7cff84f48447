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
	// Since is when the first suggestions were made; zero if there are none. Time is when these were made; zero if there are none. Until is when the evidence ended that they follow from; zero
	// if there was none. Baseline is the node type that they are relative to.
	Since       time.Time    `json:"since,omitzero"`
	Time        time.Time    `json:"time,omitzero"`
	Until       time.Time    `json:"until,omitzero"`
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

// lives reports whether the suggestions are not older than evidence lives.
func (c *content) lives(at time.Time) bool { return at.Sub(c.Time) <= life }

// suggestion returns the suggestion for a node type; nil if there is none.
func (c *content) suggestion(nodeType string) *Suggestion {
	i, found := slices.BinarySearchFunc(c.Suggestions, nodeType, func(s Suggestion, name string) int {
		return strings.Compare(s.NodeType, name)
	})
	if !found {
		return nil
	}
	return &c.Suggestions[i]
}

// age holds back ratios that follow from evidence that ended long before the suggestions were made.
func (c *content) age() {
	if c.Time.Sub(c.Until) <= fresh {
		return
	}
	for i := range c.Suggestions {
		if s := &c.Suggestions[i]; s.Known() {
			s.Doubts = append(s.Doubts, tooOld(c.Until))
		}
	}
}

// after returns new suggestions that remember when the first ones were made, and when evidence last made them good enough. Of a ratio that applies without that being
// known, it is the time of the new ones.
func (c content) after(before content) content {
	c.Since = before.Since
	if c.Since.IsZero() && len(before.Suggestions) > 0 {
		c.Since = before.Time // An earlier version did not store it.
	}
	if c.Since.IsZero() {
		c.Since = c.Time
	}
	c.Suggestions = slices.Clone(c.Suggestions)
	for i := range c.Suggestions {
		s := &c.Suggestions[i]
		switch past := before.suggestion(s.NodeType); {
		case s.good():
			s.Supported = c.Until
		case past != nil:
			s.Supported = past.Supported
		}
		if s.Supported.IsZero() && before.NodeTypes[s.NodeType].Ratio > 0 {
			s.Supported = c.Time
		}
	}
	return c
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
