package samples

import (
	"cmp"
	"slices"
	"time"
)

// Limits bound what is kept. PerKey and Bytes have their default where they are
// not above 0.
type Limits struct {
	// PerKey is how many samples of one node type, CPU model, benchmark and
	// version are kept, the newest; spot checks are counted apart. The newest of
	// each machine go before all others, so that one machine that is measured
	// often does not displace the rest.
	PerKey int
	// Bytes is the size of one ConfigMap: the oldest of the largest keys go
	// first. The API server's limit holds in any case.
	Bytes int
	// MaxAge is from when on samples are not kept; 0 is never.
	MaxAge time.Duration
}

// DefaultLimits fit the API server's limit of 1 MiB.
var DefaultLimits = Limits{PerKey: 64, Bytes: 768 << 10, MaxAge: 365 * 24 * time.Hour}

// maxBytes leaves some room below the API server's limit of 1 MiB.
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

// key is what PerKey holds for.
type key struct {
	nodeType, benchmark, version, cpuModel string
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
		cmp.Compare(k.version, o.version), cmp.Compare(k.cpuModel, o.cpuModel), cmp.Compare(spot(k), spot(o)))
}

// group is the rows of a key, those first that are kept longest.
type group struct {
	key
	rows  []row
	bytes int
}

// overhead is what the node type takes in the ConfigMap beside its samples: it is
// the key of the data, and there once more for each of up to two field managers.
// It is counted once per group, which is more than it is.
func overhead(nodeType string) int { return 3 * (len(nodeType) + 10) }

// bound returns what is kept of the rows of a shard. It depends on nothing but the
// rows, so that a feed that is read again and again comes to rest, and causes no
// write each time.
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

// rank orders the rows of a key by how long they are kept: the newest of each
// machine, then the second of each machine, and so on; the newer first.
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
