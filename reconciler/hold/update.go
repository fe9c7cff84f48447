package hold

import (
	"context"
	"slices"
)

// write reports whether a change is written or only checked.
type write bool

const (
	toStore write = true
	toCheck write = false
)

// update changes the holds in the ConfigMap, and drops expired holds.
func (s *Store) update(ctx context.Context, write write, change func([]Hold) ([]Hold, error)) error {
	return s.document.Update(ctx, write == toCheck, func(holds []Hold, data map[string]string) (map[string]string, error) {
		changed, err := change(live(holds, s.clock.Now()))
		if err != nil || slices.Equal(changed, holds) {
			return nil, err
		}
		text, err := readable(changed)
		if err != nil {
			return nil, err
		}
		grows := len(text) > len(data[Key])
		if grows && (len(changed) > maxHolds || len(text) > maxBytes) {
			return nil, &FullError{len(changed), len(text)}
		}
		return map[string]string{Key: text}, nil
	})
}
