package history

import (
	"cmp"
	"time"
)

// Floors are the least sizes of containers of which smaller ones were seen to be too small, by Resource: in millicores or
// bytes, of each of the last days.
type Floors struct{ Requests, Limits [2]Days }

// Harm is a size that made a container worse, so that it was reverted.
type Harm struct {
	Pod
	// At is when it was reverted. The same harm may be reported several times.
	At       time.Time
	Resource Resource
	// Request and Limit are the least sizes that may be tried again, in millicores or bytes; 0 if that part of the size did
	// no harm.
	Request, Limit int64
}

// RecordHarm counts a size as too small. It does nothing without a history on the type of the pod's node, and returns why
// a harm cannot count.
func (h *History) RecordHarm(c Container, of Harm, now time.Time) error {
	options := h.options(c)
	switch {
	case of.Request < 0 || of.Request > most || of.Limit < 0 || of.Limit > most:
		return ErrImplausible
	case of.At.IsZero():
		return ErrTime
	case of.At.After(now.Add(Skew)):
		return ErrFuture
	case now.Sub(of.At) >= options.Kept():
		return ErrExpired
	}
	if r := h.containers[c]; r != nil {
		if i, found := r.Find(of.NodeType); found {
			floors := r.Types[i].floors()
			floors.Requests[of.Resource].Note(of.At, of.Request)
			floors.Limits[of.Resource].Note(of.At, of.Limit)
		}
	}
	return nil
}

// floors returns the floors, for writing.
func (s *Series) floors() *Floors {
	if s.Floors == nil {
		s.Floors = &Floors{}
	}
	return s.Floors
}

// prove notes what a killed container used, and that its limit was too small. An eviction proves nothing about the limit. Nothing
// follows from what the floor leads to but another kill: what its author wrote bounds what a container gets.
func (s *Series) prove(k *Kill, options *Options) {
	s.Peaks.Note(k.At, cmp.Or(k.Usage, k.Limit))
	if k.Limit > 0 && k.Usage == 0 && !options.Compat {
		s.floors().Limits[Memory].Note(k.At, min(int64(float64(k.Limit)*options.OOMBump), most))
	}
}

// Highest returns the highest floors of a resource; 0 if there is none.
func (f *Floors) Highest(of Resource, now time.Time) (request, limit int64) {
	if f == nil {
		return 0, 0
	}
	return f.Requests[of].Highest(now), f.Limits[of].Highest(now)
}

func (f *Floors) rewind(now time.Time) {
	if f == nil {
		return
	}
	for i := range f.Requests {
		f.Requests[i].rewind(now)
		f.Limits[i].rewind(now)
	}
}
