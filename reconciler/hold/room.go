package hold

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/fair"
)

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

// division divides a part of the capacity among some of the holds.
type division struct {
	limits fair.Limits
	// key returns who a hold counts for, and false if it does not count.
	key func(h *keyed) (who fair.Key, counts bool)
	// of names the holds, and instead is the wider hold that may have room.
	of, instead string
}

const (
	insteadAll   = "pause or restore the cluster as a whole (-A)"
	insteadThere = "pause or restore the namespace as a whole (-n %s)"
)

var (
	// ofAll is for all holds except those of the cluster.
	ofAll = division{fair.Limits{All: belowCluster}, func(h *keyed) (fair.Key, bool) {
		return fair.Key{}, h.Scope.level() != ofCluster
	}, "namespaces, workloads and pods", insteadAll}
	// ofNamespaces is for the holds of namespaces, by author.
	ofNamespaces = division{fair.Limits{PerOrigin: perAuthorWide}, func(h *keyed) (fair.Key, bool) {
		return fair.Key{Origin: orNobody(h.Author)}, h.Scope.level() == ofNamespace
	}, "namespaces", insteadAll}
	// ofPods is for the holds of pods and workloads, by namespace and author. Breakers take nothing
	// of what a namespace or an author has.
	ofPods = division{fair.Limits{All: forNarrow, PerOrigin: perNamespace, PerAccount: perAuthorThere}, func(h *keyed) (fair.Key, bool) {
		if h.Kind == Breaker {
			return fair.Key{}, h.Scope.level() > ofNamespace
		}
		return fair.Key{Origin: h.Scope.Namespace, Account: orNobody(h.Author)}, h.Scope.level() > ofNamespace
	}, "pods and workloads", insteadThere}
	// ofAuthors is for the same holds by author, in all namespaces.
	ofAuthors = division{fair.Limits{PerOrigin: perAuthor}, func(h *keyed) (fair.Key, bool) {
		return fair.Key{Origin: orNobody(h.Author)}, h.Scope.level() > ofNamespace && h.Kind != Breaker
	}, "pods and workloads", insteadThere}
)

// divisions returns those that a hold must have room in.
func (h *keyed) divisions() []*division {
	switch level := h.Scope.level(); {
	case level == ofCluster:
		return nil
	case h.Kind == Breaker:
		return []*division{&ofAll} // Callers who pause pods must not be able to prevent it.
	case level == ofNamespace:
		return []*division{&ofNamespaces, &ofAll}
	}
	return []*division{&ofPods, &ofAuthors, &ofAll}
}

// checkRoom returns a *FullError if a hold takes more than its share. all are the holds
// before the change, data is the data after it, and before is the cost of the hold that it
// replaces: a hold that does not grow always fits.
func checkRoom(all []keyed, data map[string]string, put keyed, before int) error {
	size := cost(put.key, data[put.key])
	if size <= before {
		return nil
	}
	for _, d := range put.divisions() {
		who, _ := d.key(&put)
		full := d.limits.Full(who, size, func(yield func(fair.Key, int) bool) {
			for i := range all {
				c := cost(all[i].key, data[all[i].key])
				if other, counts := d.key(&all[i]); c > 0 && counts && all[i].key != put.key && !yield(other, c) {
					return
				}
			}
		})
		if full != nil {
			return d.fullError(full, &put)
		}
	}
	return nil
}

func (d *division) fullError(full *fair.Full, put *keyed) error {
	e := &FullError{Of: d.of, Holds: full.Shares, Most: full.Most, Instead: d.instead}
	if d.instead == insteadThere {
		e.Instead = fmt.Sprintf(insteadThere, put.Scope.Namespace)
	}
	if d == &ofPods && full.Level >= fair.Origin {
		e.Of += " in namespace " + put.Scope.Namespace
	}
	if d == &ofPods && full.Level == fair.Account || d == &ofAuthors || d == &ofNamespaces {
		e.Of += " by " + orNobody(put.Author)
	}
	return e
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
