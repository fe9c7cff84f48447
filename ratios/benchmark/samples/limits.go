package samples

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Limits limit what is kept. PerKey and Bytes have their defaults unless they are above 0.
type Limits struct {
	// PerKey is the number of samples to keep per node type, CPU model, benchmark,
	// version and number of vCPUs; the newest are kept. Spot checks count separately. The newest
	// sample of each machine takes precedence over all others, so that one machine
	// that is measured often does not displace the rest.
	PerKey int
	// Bytes is the approximate maximum size of one ConfigMap: the oldest samples of the
	// largest keys are dropped first. The API server's limit applies in any case.
	Bytes int
	// MaxAge is the age from which samples are dropped; 0 means never.
	MaxAge time.Duration
}

// DefaultLimits fit the API server's limit of 1 MiB. In one ConfigMap, they leave room for 20
// machines of each of 300 CPU models and sizes.
var DefaultLimits = Limits{PerKey: 64, Bytes: 960 << 10, MaxAge: 3 * 365 * 24 * time.Hour}

// spotPerKey limits PerKey for spot checks, which are only shown.
const spotPerKey = 8

// maxBytes is slightly below the API server's limit of 1 MiB.
const maxBytes = 1000 << 10

// leastBytes is how many bytes a row counts at least, so that a ConfigMap never has more than
// maxSamples.
const (
	leastBytes = 16
	maxSamples = maxBytes / leastBytes
)

func (l Limits) orDefault() Limits {
	if l.PerKey <= 0 {
		l.PerKey = DefaultLimits.PerKey
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	l.Bytes = min(l.Bytes, maxBytes)
	return l
}

// perKey returns how many samples of a key are kept.
func (l Limits) perKey(k key) int {
	if k.spot {
		return min(l.PerKey, spotPerKey)
	}
	return l.PerKey
}

// key identifies the samples that PerKey applies to.
type key struct {
	nodeType, benchmark, version, cpuModel string
	vcpus                                  int
	spot                                   bool
}

func (k key) compare(o key) int {
	spot := func(k key) int {
		if k.spot {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(k.nodeType, o.nodeType), cmp.Compare(k.benchmark, o.benchmark),
		cmp.Compare(k.version, o.version), cmp.Compare(k.cpuModel, o.cpuModel), cmp.Compare(k.vcpus, o.vcpus), cmp.Compare(spot(k), spot(o)))
}

// group has the rows of a key. The rows that are kept longest come first.
type group struct {
	key
	rows  []row
	bytes int
}

// overhead returns about how many bytes a group takes in addition to its rows: what they have in
// common, and the name of the node type. Each of up to two field managers names it, too.
func overhead(nodeType string) int { return 3 * (len(nodeType) + 10) }

// bytes returns about how many bytes a row takes when it is packed. It does not depend on other
// rows, so that dropping rows has the same result in any order.
func (r *row) bytes() int {
	if r.Source == sample.SourceAgent {
		return leastBytes + len(r.Machine)/10 // A run has several samples, next to each other.
	}
	own := len(r.Machine) + len(r.ID)
	if strings.Contains(r.ID, r.Machine) {
		own = len(r.ID)
	}
	return 24 + own*4/5
}

// bound returns the rows of a shard that are kept. Besides limits and age, it depends only on
// the rows, so that reading the same feed repeatedly becomes stable and does not cause a write
// every time.
func (l Limits) bound(rows []row, now time.Time) []group {
	l = l.orDefault()
	rows = limitAgents(rows)
	byKey := map[key][]row{}
	for _, r := range rows {
		if l.MaxAge <= 0 || now.Sub(r.Time) <= l.MaxAge {
			byKey[r.key()] = append(byKey[r.key()], r)
		}
	}
	groups := make([]group, 0, len(byKey))
	for k, rows := range byKey {
		rows = rank(rows)
		g := group{key: k, rows: rows[:min(len(rows), l.perKey(k))], bytes: overhead(k.nodeType)}
		for _, r := range g.rows {
			g.bytes += r.bytes()
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b group) int { return a.compare(b.key) })
	shrink(groups, l.Bytes)
	return groups
}

// rank orders the rows of a key by how long they are kept: the newest row of each machine, then
// the second newest of each machine, and so on. Within a turn, newer rows come first.
func rank(rows []row) []row {
	slices.SortFunc(rows, newestFirst)
	turns := make([][]row, 1)
	seen := map[string]int{}
	for _, r := range rows {
		turn := seen[r.Machine]
		seen[r.Machine]++
		if turn == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn] = append(turns[turn], r)
	}
	return slices.Concat(turns...)
}

func newestFirst(a, b row) int {
	return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID))
}
