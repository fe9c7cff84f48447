package samples

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// overlay has the rows that a read-only store has added in memory to the ConfigMap of a shard.
type overlay struct {
	parser parser
	// base is the content of the ConfigMap; shown is the content in effect.
	base, shown content
}

// add merges rows into the content in effect.
func (o *overlay) add(rows []row, l Limits, now time.Time) ([]Outcome, error) {
	data, outcomes, err := merge(o.shown, rows, l, now)
	if err != nil || data == nil {
		return outcomes, err
	}
	shown, err := o.parser.parse(data)
	if err != nil {
		return nil, err
	}
	o.shown = shown
	return outcomes, nil
}

// rebase applies the added rows to the new content of the ConfigMap.
func (o *overlay) rebase(base content, l Limits, now time.Time) content {
	added := o.added()
	o.base, o.shown = base, base
	// Rows that were read once can be read again. If not, only the ConfigMap counts.
	_, _ = o.add(added, l, now)
	return o.shown
}

// added returns the rows in effect that are not in the ConfigMap.
func (o *overlay) added() []row {
	var added []row
	for nodeType, e := range o.shown {
		stored := map[sample.Sample]bool{}
		if base := o.base[nodeType]; base != nil {
			for _, r := range base.rows {
				stored[r.Sample] = true
			}
		}
		for _, r := range e.rows {
			if !stored[r.Sample] {
				added = append(added, r)
			}
		}
	}
	return added
}

// keep adds rows in memory only.
func (h *shard) keep(rows []row) ([]Outcome, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	outcomes, err := h.overlay.add(rows, h.store.currentLimits(), h.store.config.Clock.Now())
	h.store.take(h.number, h.overlay.shown)
	return outcomes, err
}
