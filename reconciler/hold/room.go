package hold

import "fmt"

// capacity is how many bytes all holds together may take. The API server accepts 1 MiB of
// data, and etcd 1.5 MiB with the record of who owns each key.
const capacity = 1_000_000

// The shares of the capacity. A caller who may pause or restore only some pods cannot
// take the room that others need for wider scopes: a wider scope may use all room of
// the narrower ones.
const (
	// perNamespace and perAuthor limit the holds of pods and workloads. perAuthorThere
	// limits those of one author in one namespace, so that the others have room there.
	perNamespace   = capacity / 8
	perAuthor      = capacity / 8
	perAuthorThere = perNamespace / 2
	// forNarrow is for all holds of pods and workloads together. The rest is reserved for
	// wider scopes.
	forNarrow = capacity * 3 / 4
	// perAuthorWide limits the holds of namespaces of one author to half of what pods and
	// workloads always leave.
	perAuthorWide = (belowCluster - forNarrow) / 2
	// belowCluster is for all holds except those of the cluster. There is at most one of each kind
	// of these, which always fit.
	belowCluster = capacity - len(kinds)*largest
	// largest exceeds the cost of any hold.
	largest = 5000
)

// cost returns how many bytes a hold takes: its key is stored once in the data, and again
// with about 20 more bytes in the record of its owner. Without text, the cost is 0.
func cost(key, text string) int {
	if text == "" {
		return 0
	}
	return 2*len(key) + len(text) + 20
}

// checkRoom returns a *FullError if a hold takes more than its share. all are the holds
// before the change, data is the data after it, and before is the cost of the hold that it
// replaces: a hold that does not grow always fits.
func checkRoom(all []keyed, data map[string]string, put keyed, before int) error {
	grows := cost(put.key, data[put.key]) > before
	level := put.Scope.level()
	if !grows || level == ofCluster {
		return nil
	}
	var inNamespace, byAuthor, byAuthorThere, byAuthorWide, narrow, below share
	count := func(h *keyed) {
		c := cost(h.key, data[h.key])
		if c == 0 || h.Scope.level() == ofCluster {
			return
		}
		below.add(c)
		mine, there := h.Author == put.Author, h.Scope.Namespace == put.Scope.Namespace
		if h.Scope.level() == ofNamespace {
			byAuthorWide.addIf(mine, c)
			return
		}
		narrow.add(c)
		inNamespace.addIf(there && h.Kind != Breaker, c)
		byAuthor.addIf(mine, c)
		byAuthorThere.addIf(mine && there, c)
	}
	for i := range all {
		if all[i].key != put.key {
			count(&all[i])
		}
	}
	count(&put)
	const pods = "pods and workloads"
	there, by := " in namespace "+put.Scope.Namespace, " by "+orNobody(put.Author)
	inCluster := quota{below, belowCluster, "namespaces, workloads and pods", "pause or restore the cluster as a whole (-A)"}
	quotas := []quota{{byAuthorWide, perAuthorWide, "namespaces" + by, inCluster.instead}, inCluster}
	switch {
	case put.Kind == Breaker:
		quotas = []quota{inCluster} // Callers who pause pods must not be able to prevent it.
	case level > ofNamespace:
		instead := "pause or restore the namespace as a whole (-n " + put.Scope.Namespace + ")"
		quotas = []quota{
			{inNamespace, perNamespace, pods + there, instead},
			{byAuthorThere, perAuthorThere, pods + there + by, instead},
			{byAuthor, perAuthor, pods + by, instead},
			{narrow, forNarrow, pods, instead},
			inCluster,
		}
	}
	for _, q := range quotas {
		if q.taken.bytes > q.most {
			return &FullError{Of: q.of, Holds: q.taken.holds - 1, Most: q.most, Instead: q.instead}
		}
	}
	return nil
}

// quota is a share of the capacity.
type quota struct {
	taken share
	most  int
	// of names the holds that share it, and instead is a wider hold that may have room.
	of, instead string
}

// share is the number of some holds, and how many bytes they take.
type share struct{ holds, bytes int }

func (s *share) add(bytes int) {
	s.holds++
	s.bytes += bytes
}

func (s *share) addIf(counts bool, bytes int) {
	if counts {
		s.add(bytes)
	}
}

func orNobody(author string) string {
	if author == "" {
		return "callers without a name"
	}
	return author
}

// FullError means that another hold of this kind does not fit.
type FullError struct {
	// Of names the holds that share the room, Holds is their number without the new one,
	// and Most is how many bytes they may take.
	Of          string
	Holds, Most int
	// Instead is a wider hold that may have room.
	Instead string
}

func (e *FullError) Error() string {
	return fmt.Sprintf("there is no room for another hold: the holds of %s are limited to %d kB, which %d holds use; end some with \"resizectl resume\", or %s",
		e.Of, e.Most/1000, e.Holds, e.Instead)
}
