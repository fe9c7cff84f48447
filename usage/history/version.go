package history

import "time"

// Version identifies what the pods of a container were created from. Its hash is given by those who know pods: a
// different one means that earlier samples may say little about the container. The zero value is not known.
type Version struct {
	Hash uint64
	// Since is when the first pod of the version was created; zero if there is no other version before it.
	Since time.Time
}

// Follow notes the version of the pods of a container that has a history. If it is the first one that is known, nothing
// has changed. The runs of the version before prove nothing about the new one.
func (h *History) Follow(c Container, v Version) {
	r := h.containers[c]
	switch {
	case r == nil || v.Hash == 0 || v.Hash == r.Version.Hash:
	case r.Version.Hash == 0:
		r.Version = Version{Hash: v.Hash}
	default:
		r.Version = v
		r.forgetRuns()
	}
}
