package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/usage"
	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// Trends are stored in the ConfigMap of a shard, under a key of their own. Sizes depend on the history, and nothing on trends: they take
// no room that it needs, and what is wrong with them is not wrong with it.
const (
	trendsKey     = "trends"
	trendsMagic   = "wr-trend"
	trendsVersion = 1
	// roomiest is how many bytes a shard and its trends have at most: the API server accepts 1 MiB. If trends have no room in one of the
	// most shards, those of fewer days are stored.
	roomiest = 1_040_000
)

// daysStored are the numbers of days to try, the last one until the trends of a shard fit.
var daysStored = []int{0, 60, 40, 25, 15, 10, 5, 2}

// trends are what is stored of the trends of a shard.
type trends struct {
	bytes []byte
	// sum identifies them, whenever they were stored.
	sum sum
	// size is the number of bytes, and days how many days are stored; 0 for all.
	size, days int
	// missing is what is not known for lack of room, stored or not.
	missing error
}

// about reports whether the trend of a subject belongs to the shard: like that of a container without a name.
func (h header) about(of trend.Subject) bool {
	return h.has(history.Container{Namespace: of.Namespace, Kind: of.Kind, Workload: of.Name})
}

// packTrends packs the trends of a shard into some room. If they do not fit, the error is errLarge, or else they are shortened.
func (k *Keeper) packTrends(store *usage.Store, h header, room int) (trends, error) {
	of := store.TrendSubjects()
	of = slices.DeleteFunc(of, func(s trend.Subject) bool { return !h.about(s) })
	m := &storedv2.Trends{}
	known := store.ReadTrends(of, func(s trend.Subject, r *trend.Record) {
		if r != nil {
			m.Trends = append(m.Trends, packTrend(s, r))
		}
	})
	packKnown(m, known)
	var missing error
	if h.index == 0 { // It says it for all.
		missing = store.TrendsMissing(h.written)
	}
	if len(m.GetTrends()) == 0 {
		return trends{missing: missing}, nil
	}
	for _, days := range daysStored {
		if days > 0 {
			if err := shorten(m, h.written.AddDate(0, 0, -days)); err != nil {
				return trends{}, err
			}
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return trends{}, fmt.Errorf("trends: %w", err)
		}
		if len(raw) > longest {
			if h.count < most {
				return trends{}, errLarge
			}
			continue
		}
		b, err := k.packer.seal(trendsMagic, trendsVersion, raw, h, room)
		if !errors.Is(err, errLarge) || h.count < most {
			return trends{bytes: b, sum: sha256.Sum256(raw), size: len(b), days: days, missing: missing}, err
		}
	}
	return trends{days: -1, missing: missing}, nil
}

func packTrend(of trend.Subject, r *trend.Record) *storedv2.Trend {
	return &storedv2.Trend{
		Namespace: of.Namespace, Kind: of.Kind, Workload: of.Name,
		SinceSlot: int64(r.Since), LateSeconds: r.Late, Changes: slices.Clone(r.Closed.Changes()), OpenSlot: int64(r.Open), CoveredSeconds: r.Covered, Mean: r.Mean.Codes(),
	}
}

func packKnown(m *storedv2.Trends, known map[trend.Slot]float64) {
	hours := slices.Sorted(maps.Keys(known))
	if len(hours) == 0 {
		return
	}
	m.KnownSinceHour = int64(hours[0])
	m.KnownSeconds = make([]uint32, hours[len(hours)-1]-hours[0]+1)
	for hour, seconds := range known {
		m.KnownSeconds[hour-hours[0]] = uint32(seconds)
	}
}

// shorten forgets what was before a time.
func shorten(m *storedv2.Trends, before time.Time) error {
	for _, t := range m.GetTrends() {
		r, err := recordOf(t)
		if err != nil {
			return err
		}
		r.ForgetBefore(before, subjectOf(t))
		t.SinceSlot, t.LateSeconds, t.Changes = int64(r.Since), r.Late, r.Closed.Changes()
	}
	return nil
}

func recordOf(t *storedv2.Trend) (*trend.Record, error) {
	closed, err := trend.Parse(t.GetChanges())
	return &trend.Record{
		Since: trend.Slot(t.GetSinceSlot()), Late: t.GetLateSeconds(), Closed: closed,
		Open: trend.Slot(t.GetOpenSlot()), Covered: t.GetCoveredSeconds(), Mean: trend.FromCodes(t.GetMean()),
	}, err
}

func subjectOf(t *storedv2.Trend) trend.Subject {
	return trend.Subject{Namespace: t.GetNamespace(), Kind: t.GetKind(), Name: t.GetWorkload()}
}

// unpackTrends returns the trends that were stored with a shard; nil if there are none. One that is damaged is left out.
func unpackTrends(b []byte) (*trend.Book, sum, error) {
	if len(b) == 0 {
		return nil, sum{}, nil // A version that knows no trends may have written the shard.
	}
	book := trend.NewBook()
	_, rest, err := unseal(b, trendsMagic, trendsVersion)
	if err != nil {
		return nil, sum{}, err
	}
	var shard storedv2.Shard
	if err := proto.Unmarshal(rest, &shard); err != nil || shard.GetLength() > longest {
		return nil, sum{}, fmt.Errorf("%w: its header is wrong", errDamaged)
	}
	raw, err := inflate(shard.GetContent(), int(shard.GetLength()))
	if err != nil {
		return nil, sum{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	var m storedv2.Trends
	if err := proto.Unmarshal(raw, &m); err != nil {
		return nil, sum{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	for _, t := range m.GetTrends() {
		r, failed := recordOf(t)
		if failed != nil {
			err = fmt.Errorf("%w: the trend of %v: %w", errDamaged, subjectOf(t), failed)
			continue
		}
		book.Put(subjectOf(t), r)
	}
	for i, seconds := range m.GetKnownSeconds() {
		book.Knew(trend.Slot(m.GetKnownSinceHour())+trend.Slot(i), float64(seconds))
	}
	return book, sha256.Sum256(raw), err
}

// readTrends reads the trends of a ConfigMap into what is known of it.
func (k *Keeper) readTrends(c *stored, b []byte) (book *trend.Book) {
	var later laterError
	c.trends.size = len(b)
	book, c.trends.sum, c.trendsErr = unpackTrends(b)
	if errors.As(c.trendsErr, &later) {
		c.trends.bytes = b // A replica that understands it may lead again.
	}
	return book
}

// past returns the trends to store with a shard: those of a later version stay as they are.
func (k *Keeper) past(store *usage.Store, h header, known *stored, room int) (trends, error) {
	switch {
	case !known.later():
		return k.packTrends(store, h, room)
	case known.trends.size <= room:
		return known.trends, nil
	case h.count < most:
		return trends{}, errLarge
	}
	return trends{days: -1}, nil // The history comes first.
}

// later reports whether a later version wrote trends of the ConfigMap.
func (c *stored) later() bool { return c != nil && c.trends.bytes != nil }

// laterErr returns why trends cannot be read that stay as they are; nil if they do not.
func (c *stored) laterErr() error {
	if !c.later() {
		return nil
	}
	return c.trendsErr
}

// known returns what to know of trends that were stored, given what was known of the ConfigMap before.
func (t trends) known(before *stored) trends {
	if !before.later() {
		t.bytes = nil
	}
	return t
}

// data returns the data of a ConfigMap with a shard and what is next to it.
func (k *Keeper) data(shard []byte, t trends, with companion) map[string][]byte {
	all := map[string][]byte{key: shard}
	if t.bytes != nil {
		all[trendsKey] = t.bytes
	}
	if with.sealed != nil {
		all[k.config.Companion.Name()] = with.sealed
	}
	return all
}

// leftOut returns an error if not all trends are stored.
func (t trends) leftOut(namespace, name string) error {
	switch {
	case t.days < 0:
		return fmt.Errorf("ConfigMap %s/%s has no room for what its workloads saved over time, which begins again after a restart", namespace, name)
	case t.days > 0:
		return fmt.Errorf("ConfigMap %s/%s has room only for what its workloads saved within %d days: what was before is lost after a restart", namespace, name, t.days)
	}
	return t.missing
}

// trendsFault returns why the trends of a ConfigMap cannot be read; nil if they can be.
func (c *stored) trendsFault(namespace string) error {
	if c.trendsErr == nil {
		return nil
	}
	return fmt.Errorf("ConfigMap %s/%s: what workloads saved over time cannot be read: %w", namespace, c.name, c.trendsErr)
}
