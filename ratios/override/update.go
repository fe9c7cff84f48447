package override

import (
	"context"
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Request has the parts that all changes share.
type Request struct {
	// Author, CredentialID and Reason are for the history. CredentialID can be up
	// to 256 bytes.
	Author, CredentialID, Reason string
	// ID identifies the request, unless it is empty. If the history has a change with this
	// ID, nothing is changed, and that change is the result.
	ID string
	// Digest identifies what is requested, and by whom, so that an ID cannot be used for
	// something else.
	Digest string
	// Check validates the resulting overrides before they are written, and gets the
	// overrides without the change, too. If the write is retried, Check is called again
	// with the new ones. Its error is returned. Nil accepts everything.
	Check func(before, after map[string]Override) error
	// ValidateOnly does everything except for the write.
	ValidateOnly bool
}

// Patch describes a change to the override of one node type.
type Patch struct {
	NodeType string
	// Etag must match the current state, unless it is empty.
	Etag string
	// CPUPerf, MemoryPerf and ExpireTime stay unchanged if they are nil. A zero
	// ExpireTime means that the override does not expire.
	CPUPerf, MemoryPerf *float64
	ExpireTime          *time.Time
	// AllowMissing allows a node type without an override.
	AllowMissing bool
	// AllowNewNodeType allows a node type that no source knows. Both performances
	// must then be set.
	AllowNewNodeType bool
	// Default returns the ratio that the other sources have for a node type: the
	// start value if there is no override. It is called on every try, with the
	// state that is stored at that time. Nil means that no other source knows any
	// node type.
	Default func(nodeType string) (ratios.Ratio, bool)
}

// Update changes the overrides of node types, all or none. It returns the change as it is
// recorded in the history; nil if there is nothing to change. The change is in effect on this
// replica when Update returns. The error may be an *EtagError, *NoOverrideError, *UnknownError,
// *FieldError,
// *FullError, *document.MissingError, *document.ContentError, *document.RefusedError,
// ErrReadOnly, or the error of Check.
func (s *Store) Update(ctx context.Context, patches []Patch, r Request) (*Change, error) {
	return s.edit(ctx, r, nil, func(c content, from ratios.Provenance) (map[string]Override, error) {
		next := maps.Clone(c.overrides)
		for _, p := range patches {
			if err := checkEtag(c, p.NodeType, p.Etag); err != nil {
				return nil, err
			}
			patched, err := p.apply(next, from)
			if err != nil {
				return nil, err
			}
			// Otherwise, nobody could see in the history why the override and its etag changed.
			if o := next[p.NodeType].replacedBy(patched); !valueOf(o).equal(pick(next, p.NodeType)) {
				next[p.NodeType] = o
			}
		}
		return next, nil
	})
}

// apply returns the ratio of the override with the patch applied.
func (p *Patch) apply(overrides map[string]Override, from ratios.Provenance) (ratios.Ratio, error) {
	patched, err := p.start(overrides)
	if err != nil {
		return ratios.Ratio{}, err
	}
	patched.Provenance = from
	for _, set := range []struct {
		from *float64
		into *float64
	}{{p.CPUPerf, &patched.CPUPerf}, {p.MemoryPerf, &patched.MemoryPerf}} {
		if set.from != nil {
			*set.into = *set.from
		}
	}
	if p.ExpireTime != nil {
		patched.ExpireTime = p.ExpireTime.UTC().Truncate(time.Second)
	}
	if hasExpired(patched.ExpireTime, from.UpdateTime) {
		return ratios.Ratio{}, &FieldError{p.NodeType, "expireTime", "must be in the future"}
	}
	if wrong := faults(p.NodeType, patched); len(wrong) > 0 {
		return ratios.Ratio{}, wrong[0]
	}
	return patched, nil
}

// start returns the value that the patch is applied to: the override, or else the value from
// the other sources. If neither exists, the patch must set both performances.
func (p *Patch) start(overrides map[string]Override) (ratios.Ratio, error) {
	if override, ok := overrides[p.NodeType]; ok {
		return override.Ratio, nil
	}
	if !p.AllowMissing {
		return ratios.Ratio{}, &NoOverrideError{p.NodeType}
	}
	if p.Default != nil {
		if known, ok := p.Default(p.NodeType); ok {
			return ratios.Ratio{CPUPerf: known.CPUPerf, MemoryPerf: known.MemoryPerf}, nil
		}
	}
	const lacking = "must be set: no source has a ratio for this node type"
	switch {
	case !p.AllowNewNodeType:
		return ratios.Ratio{}, &UnknownError{p.NodeType}
	case p.CPUPerf == nil:
		return ratios.Ratio{}, &FieldError{p.NodeType, "cpuPerf", lacking}
	case p.MemoryPerf == nil:
		return ratios.Ratio{}, &FieldError{p.NodeType, "memPerf", lacking}
	}
	return ratios.Ratio{}, nil
}

// Deletion describes which override to delete.
type Deletion struct {
	NodeType string
	// Etag must match the current state, unless it is empty.
	Etag string
	// AllowMissing allows a node type without an override.
	AllowMissing bool
}

// Delete deletes an override. The results are the same as for Update; the error may also be a
// *NoOverrideError.
func (s *Store) Delete(ctx context.Context, d Deletion, r Request) (*Change, error) {
	return s.edit(ctx, r, nil, func(c content, _ ratios.Provenance) (map[string]Override, error) {
		if _, ok := c.overrides[d.NodeType]; !ok {
			if !d.AllowMissing {
				return nil, &NoOverrideError{d.NodeType}
			}
			return c.overrides, nil
		}
		if err := checkEtag(c, d.NodeType, d.Etag); err != nil {
			return nil, err
		}
		next := maps.Clone(c.overrides)
		delete(next, d.NodeType)
		return next, nil
	})
}

func checkEtag(c content, nodeType, etag string) error {
	if now := c.etag(nodeType); etag != "" && etag != now {
		return &EtagError{nodeType, now}
	}
	return nil
}
