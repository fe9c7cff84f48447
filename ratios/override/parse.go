package override

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Limits of text, in bytes. The name of an authenticated caller may be longer than an author
// that a caller states.
const (
	maxReason       = 512
	maxAuthor       = 512
	maxCredentialID = 256
	maxRequestID    = 64
)

// parse reads the data of the ConfigMap. A missing key is empty. The error lists all faults,
// each with its path.
func parse(data map[string]string) (content, error) {
	var errs document.Faults
	for key := range data {
		if key != Key && key != HistoryKey {
			errs = append(errs, fmt.Errorf("%s: unknown key; overrides must be in %s", key, Key))
		}
	}
	var overrides list
	if err := document.Decode(data[Key], &overrides); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", Key, err))
	}
	var past history
	if err := document.Decode(data[HistoryKey], &past); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", HistoryKey, err))
	}
	c := content{overrides: make(map[string]Override, len(overrides.Overrides))}
	for _, nodeType := range slices.Sorted(maps.Keys(overrides.Overrides)) {
		e := overrides.Overrides[nodeType]
		o, wrong := e.override(nodeType)
		for _, fault := range wrong {
			errs = append(errs, fmt.Errorf("overrides.%w", fault))
		}
		c.overrides[nodeType] = o
	}
	for i, e := range past.Changes {
		change, err := e.change()
		if err == nil && i > 0 && change.Number != c.changes[i-1].Number+1 {
			err = fmt.Errorf("number: must be %d, not %d", c.changes[i-1].Number+1, change.Number)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("changes[%d].%w", i, err))
		}
		c.changes = append(c.changes, change)
	}
	return c, errs.Err()
}

// override returns the override of a node type, with what it falls back to, and everything that
// is wrong with them.
func (e *entry) override(nodeType string) (Override, []*FieldError) {
	r, errs := e.ratio(nodeType)
	o := Override{Ratio: r}
	if e.Fallback == nil {
		return o, errs
	}
	switch {
	case e.ExpireTime == "":
		errs = append(errs, &FieldError{nodeType, "fallback", "must not be set without expireTime"})
	case e.Fallback.ExpireTime != "" || e.Fallback.Fallback != nil:
		errs = append(errs, &FieldError{nodeType, "fallback", "must be permanent, without expireTime and fallback"})
	}
	fallback, wrong := e.Fallback.ratio(nodeType)
	for _, fault := range wrong {
		if fault.Field != "nodeType" {
			errs = append(errs, &FieldError{nodeType, "fallback." + fault.Field, fault.Problem})
		}
	}
	o.Fallback = &fallback
	return o, errs
}

// ratio returns the ratio of an entry, without what it falls back to.
func (e *entry) ratio(nodeType string) (ratios.Ratio, []*FieldError) {
	r := ratios.Ratio{CPUPerf: e.CPUPerf, MemoryPerf: e.MemoryPerf, Provenance: ratios.Provenance{Source: Source, Author: e.Author, CredentialID: e.Credential, Reason: e.Reason}}
	var errs []*FieldError
	for _, t := range []struct {
		field, text string
		into        *time.Time
	}{{"updateTime", e.UpdateTime, &r.Provenance.UpdateTime}, {"expireTime", e.ExpireTime, &r.ExpireTime}} {
		var err error
		if *t.into, err = document.ParseTime(t.text); err != nil {
			errs = append(errs, &FieldError{nodeType, t.field, err.Error()})
		}
	}
	return r, append(errs, faults(nodeType, r)...)
}

// faults returns everything that is wrong with a ratio.
func faults(nodeType string, r ratios.Ratio) []*FieldError {
	var errs []*FieldError
	add := func(field, problem string) { errs = append(errs, &FieldError{nodeType, field, problem}) }
	if problem := nodeTypeProblem(nodeType); problem != "" {
		add("nodeType", problem)
	}
	for _, perf := range []struct {
		field string
		value float64
	}{{"cpuPerf", r.CPUPerf}, {"memPerf", r.MemoryPerf}} {
		if !ratios.ValidPerf(perf.value) {
			add(perf.field, "must be set to a finite number above 0")
		}
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"author", r.Provenance.Author, maxAuthor}, {"credentialID", r.Provenance.CredentialID, maxCredentialID}, {"reason", r.Provenance.Reason, maxReason}} {
		for _, problem := range document.LineProblems(text.value, text.most) {
			add(text.field, problem)
		}
	}
	return errs
}

// nodeTypeProblem returns what is wrong with the name of a node type; empty if it is valid.
func nodeTypeProblem(nodeType string) string {
	if nodeType == "" {
		return "must be set"
	}
	if problems := nodetype.NameProblems(nodeType); len(problems) > 0 {
		return "must be a valid node type: " + strings.Join(problems, ", ")
	}
	return ""
}

func (e *changeEntry) change() (Change, error) {
	c := Change{Number: e.Number, Author: e.Author, CredentialID: e.Credential, Reason: e.Reason, RollbackTo: e.RollbackTo, Expiry: e.Expiry, RequestID: e.RequestID, RequestDigest: e.RequestDigest}
	var err error
	switch c.Time, err = document.ParseTime(e.Time); {
	case err != nil:
		return c, fmt.Errorf("time: %w", err)
	case e.Number < 1:
		return c, fmt.Errorf("number: must be at least 1, not %d", e.Number)
	case len(e.Deltas) == 0:
		return c, fmt.Errorf("deltas: must have at least one")
	}
	for i, d := range e.Deltas {
		delta := Delta{NodeType: d.NodeType}
		for _, v := range []struct {
			field string
			entry *valueEntry
			into  **Value
		}{{"from", d.From, &delta.From}, {"to", d.To, &delta.To}} {
			if v.entry == nil {
				continue
			}
			o, wrong := v.entry.entry().override(d.NodeType)
			if len(wrong) > 0 {
				return c, fmt.Errorf("deltas[%d].%s: %w", i, v.field, wrong[0])
			}
			*v.into = valueOf(o)
		}
		c.Deltas = append(c.Deltas, delta)
	}
	return c, nil
}

// entry returns the override with the value, which nobody has written.
func (v *valueEntry) entry() *entry {
	if v == nil {
		return nil
	}
	return &entry{CPUPerf: v.CPUPerf, MemoryPerf: v.MemoryPerf, ExpireTime: v.ExpireTime, Fallback: v.Fallback.entry()}
}
