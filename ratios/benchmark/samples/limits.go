package samples

import (
	"cmp"
	"slices"
	"time"
)

// Limits limit what is kept. PerKey and Bytes have their defaults unless they are above 0.
type Limits struct {
	// PerKey is the number of samples to keep per node type, CPU model, benchmark,
	// version and number of vCPUs; the newest are kept. Spot checks count separately. The newest
	// sample of each machine takes precedence over all others, so that one machine
	// that is measured often does not displace the rest.
	PerKey int
	// Bytes is the maximum size of one ConfigMap: the oldest samples of the largest
	// keys are dropped first. The API server's limit applies in any case.
	Bytes int
	// MaxAge is the age from which samples are dropped; 0 means never.
	MaxAge time.Duration
}

// DefaultLimits fit the API server's limit of 1 MiB.
var DefaultLimits = Limits{PerKey: 64, Bytes: 768 << 10, MaxAge: 3 * 365 * 24 * time.Hour}

// maxBytes is slightly below the API server's limit of 1 MiB.
const maxBytes = 1000 << 10

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

// overhead returns the size that a node type takes in the ConfigMap in addition to its
// samples: it is the key of the data, and appears again for each of up to two field managers.
// It is counted once per group, which overestimates it.
func overhead(nodeType string) int { return 3 * (len(nodeType) + 10) }

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
		g := group{key: k, rows: rows[:min(len(rows), l.PerKey)], bytes: overhead(k.nodeType)}
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
