package demand

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// created notes what a pod of the workload was created from, and when the first such pod was created. It does not follow
// from the objects of the workload: pods are all that is known of most kinds.
func (f *facts) created(p *pod.Pod) {
	hash, at := p.Template(), p.CreatedAt()
	if hash == 0 {
		return
	}
	if first, known := f.versions[hash]; known && !at.Before(first) {
		return
	}
	if f.versions == nil {
		f.versions = map[uint64]time.Time{}
	}
	f.versions[hash] = at
}

// newest returns the version whose first pod was created last, even if an older version has got more pods since then.
// Of several versions of the same second, it is the one with the largest hash, on all replicas.
func newest(versions map[uint64]time.Time) (v history.Version) {
	for hash, first := range versions {
		if v.Hash == 0 || first.After(v.Since) || first.Equal(v.Since) && hash > v.Hash {
			v = history.Version{Hash: hash, Since: first}
		}
	}
	return v
}

// version returns what the pods of a container were created from; the zero value if that is not known.
func (s *survey) version(c history.Container) history.Version {
	if f := s.workloads[ownerOf(c)]; f != nil {
		return f.version
	}
	return history.Version{}
}
