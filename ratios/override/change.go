package override

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Change is one change to the overrides. It is immutable.
type Change struct {
	// Number counts the changes, from 1; 0 if the change was only validated.
	Number int64
	// Time is when the change was made, to the second.
	Time time.Time
	// Author made the change; empty if overrides expired.
	Author string
	// CredentialID identifies the credential of the author; empty if it has none.
	CredentialID string
	// Reason is why, in the author's words.
	Reason string
	// Deltas are the changes per node type, by name; at least one.
	Deltas []Delta
	// RollbackTo is the change that was rolled back to; nil if this was not a
	// rollback.
	RollbackTo *int64
	// Expiry means that overrides expired, so that nobody made the change.
	Expiry bool
	// RequestID is the ID of the request for the change, and RequestDigest what was
	// requested; both are empty if it had no ID.
	RequestID, RequestDigest string
}

// Names reports whether the change affects the node type.
func (c *Change) Names(nodeType string) bool {
	return slices.ContainsFunc(c.Deltas, func(d Delta) bool { return d.NodeType == nodeType })
}

// Delta describes how a change affected the override of one node type.
type Delta struct {
	NodeType string
	// From is nil if there was no override before; To is nil if there is none after.
	From, To *Value
}

// String returns the delta on one line, e.g. "n4: from none to cpu 1.3, memory 1".
func (d Delta) String() string {
	return d.NodeType + ": from " + d.From.String() + " to " + d.To.String()
}

// Value is the content of an override.
type Value struct {
	// CPUPerf and MemoryPerf are finite and above 0.
	CPUPerf, MemoryPerf float64
	// ExpireTime is when the override expires, to the second; zero means never.
	ExpireTime time.Time
	// Fallback is the permanent value that takes effect then; nil if there is none.
	Fallback *Value
}

// equal reports whether two values are the same; nil equals only nil.
func (v *Value) equal(other *Value) bool {
	if v == nil || other == nil {
		return v == other
	}
	return v.CPUPerf == other.CPUPerf && v.MemoryPerf == other.MemoryPerf && v.ExpireTime.Equal(other.ExpireTime) && v.Fallback.equal(other.Fallback)
}

// override returns the override with the value, written by from.
func (v *Value) override(from ratios.Provenance) Override {
	o := Override{Ratio: ratios.Ratio{CPUPerf: v.CPUPerf, MemoryPerf: v.MemoryPerf, ExpireTime: v.ExpireTime, Provenance: from}}
	if v.Fallback != nil {
		fallback := v.Fallback.override(from).Ratio
		o.Fallback = &fallback
	}
	return o
}

// String describes the value; it returns "none" for nil.
func (v *Value) String() string {
	if v == nil {
		return "none"
	}
	text := fmt.Sprintf("cpu %v, memory %v", v.CPUPerf, v.MemoryPerf)
	if !v.ExpireTime.IsZero() {
		text += " until " + v.ExpireTime.Format(time.RFC3339)
	}
	if v.Fallback != nil {
		text += ", then " + v.Fallback.String()
	}
	return text
}

func valueOf(o Override) *Value {
	v := &Value{CPUPerf: o.CPUPerf, MemoryPerf: o.MemoryPerf, ExpireTime: o.ExpireTime}
	if o.Fallback != nil {
		v.Fallback = valueOf(Override{Ratio: *o.Fallback})
	}
	return v
}

// deltas returns the differences between two sets of overrides, by node type.
func deltas(from, to map[string]Override) []Delta {
	names := maps.Clone(to)
	if names == nil {
		names = map[string]Override{}
	}
	maps.Copy(names, from)
	var all []Delta
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, after := pick(from, name), pick(to, name)
		if !before.equal(after) {
			all = append(all, Delta{name, before, after})
		}
	}
	return all
}

func pick(overrides map[string]Override, nodeType string) *Value {
	if o, ok := overrides[nodeType]; ok {
		return valueOf(o)
	}
	return nil
}
