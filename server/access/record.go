package access

import "context"

// Record has the caller of a call once it is identified, for interceptors outside of
// authentication. It is for one goroutine.
type Record struct{ id *identity }

type recordKey struct{}

// NewRecord returns a context of a call whose caller will be recorded.
func NewRecord(ctx context.Context) (context.Context, *Record) {
	r := &Record{nobody}
	return context.WithValue(ctx, recordKey{}, r), r
}

func record(ctx context.Context, id *identity) {
	if r, ok := ctx.Value(recordKey{}).(*Record); ok {
		r.id = id
	}
}

// Credential returns the ID of the caller's credential, or "" if it has none or is not
// identified.
func (r *Record) Credential() string { return r.id.Credential() }

// String returns the caller's name as Caller.String does, or "" if the caller is not
// identified.
func (r *Record) String() string { return r.id.String() }
