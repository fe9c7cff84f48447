package override

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// edit returns the new overrides. It gets the content without expired overrides, and the
// provenance for the overrides that it changes.
type edit func(now content, from ratios.Provenance) (map[string]Override, error)

// edit changes the stored overrides. rollbackTo is nil unless the change is a rollback.
func (s *Store) edit(ctx context.Context, r Request, rollbackTo *int64, edit edit) (made *Change, err error) {
	wrong := saidFaults(r.Reason, maxReason, r.Author, maxAuthor)
	for _, text := range []struct {
		field, value string
		most         int
	}{{"credentialID", r.CredentialID, maxCredentialID}, {"requestID", r.ID, maxRequestID}} {
		for _, problem := range document.LineProblems(text.value, text.most) {
			wrong = append(wrong, &FieldError{Field: text.field, Problem: problem})
		}
	}
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	var written []Change
	again := false
	decide := func(stored content, data map[string]string) (_ map[string]string, err error) {
		written = nil
		made, err = stored.made(r)
		if again = made != nil; again || err != nil {
			return nil, err
		}
		now := s.second()
		present := stored.at(now)
		overrides, err := edit(present, ratios.Provenance{Source: Source, UpdateTime: now, Author: r.Author, CredentialID: r.CredentialID, Reason: r.Reason})
		if err != nil {
			return nil, err
		}
		if r.Check != nil {
			if err := r.Check(present.overrides, overrides); err != nil {
				return nil, err
			}
		}
		next, change := present.with(overrides, Change{Time: now, Author: r.Author, CredentialID: r.CredentialID, Reason: r.Reason, RollbackTo: rollbackTo, RequestID: r.ID, RequestDigest: r.Digest})
		if change == nil {
			return nil, nil // The store records what has expired by itself.
		}
		text, err := readable(next)
		if err != nil {
			return nil, err
		}
		if n, size := len(next.overrides), len(text[Key]); (n > maxOverrides || size > maxBytes) && size > len(data[Key]) {
			return nil, &FullError{n, size}
		}
		made, written = change, next.changes[len(stored.changes):]
		return text, nil
	}
	if r.ValidateOnly {
		if err := s.document.Check(decide); err != nil {
			return nil, err
		}
		if made != nil && !again {
			made.Number = 0 // Another change may be written first.
		}
		return made, nil
	}
	if err := s.document.Update(ctx, document.Turn{}, decide); err != nil {
		return nil, err
	}
	logAll(ctx, written)
	return made, nil
}

func logAll(ctx context.Context, written []Change) {
	for i := range written {
		written[i].log(ctx)
	}
}

// log logs a written change, so that a record outlives the limited history.
func (c *Change) log(ctx context.Context) {
	deltas := make([]string, len(c.Deltas))
	for i, d := range c.Deltas {
		deltas[i] = d.String()
	}
	says := []any{"number", c.Number, "author", c.Author, "reason", c.Reason, "deltas", deltas}
	if c.CredentialID != "" {
		says = append(says, "credential", c.CredentialID)
	}
	if c.RollbackTo != nil {
		says = append(says, "rollbackTo", *c.RollbackTo)
	}
	klog.FromContext(ctx).Info("Overrides changed", says...)
}
