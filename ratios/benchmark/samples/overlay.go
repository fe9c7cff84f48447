package samples

import "time"

// overlay is what a store that is read-only has added in memory to what the
// ConfigMap of a shard says.
type overlay struct {
	parser parser
	// base is what the ConfigMap says, shown what counts.
	base, shown content
}

// add merges rows into what counts.
func (o *overlay) add(rows []row, l Limits, now time.Time) ([]Outcome, error) {
	data, outcomes := merge(o.shown, rows, l, now)
	if data == nil {
		return outcomes, nil
	}
	shown, err := o.parser.parse(data)
	if err != nil {
		return nil, err
	}
	o.shown = shown
	return outcomes, nil
}

// rebase puts what was added on top of what the ConfigMap says now.
func (o *overlay) rebase(base content, l Limits, now time.Time) content {
	added := o.added()
	o.base, o.shown = base, base
	// What was read once can be read again; if not, the ConfigMap counts.
	_, _ = o.add(added, l, now)
	return o.shown
}

// added is what counts and is not in the ConfigMap.
func (o *overlay) added() []row {
	var added []row
	for nodeType, e := range o.shown {
		stored := map[string]string{}
		if base := o.base[nodeType]; base != nil {
			for _, r := range base.rows {
				stored[r.ID] = r.line
			}
		}
		for _, r := range e.rows {
			if stored[r.ID] != r.line {
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
