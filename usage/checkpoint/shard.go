package checkpoint

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// hash returns the hash of a container. It must never change: otherwise, a container would be in two
// shards.
func hash(c history.Container) uint32 {
	h := fnv.New32a()
	for _, s := range []string{c.Namespace, c.Kind, c.Workload, c.Name} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	n := h.Sum32()
	return n ^ n>>16 // The upper bits are the better ones.
}

// has reports whether a container belongs to the shard.
func (h header) has(c history.Container) bool { return int(hash(c)%most)%h.count == h.index }

// covers returns which of the most shards the shard contains, as bits.
func (h header) covers() (bits uint32) {
	for i := h.index; i < most; i += h.count {
		bits |= 1 << i
	}
	return bits
}

// name returns the name of a ConfigMap of a shard. The second one is used if the first one cannot be
// read.
func name(prefix string, index int, second bool) string {
	n := prefix + "-" + strconv.Itoa(index)
	if second {
		n += "-2"
	}
	return n
}

// Names returns the names of all ConfigMaps that a Keeper with the prefix reads or writes.
func Names(prefix string) (all []string) {
	for index := range most {
		all = append(all, name(prefix, index, false), name(prefix, index, true))
	}
	return all
}

// progress returns until when each source has been read for all containers, given the shards from the
// newest to the oldest one. A source that any of them does not know has never been read for its
// containers, and must be read from its beginning. So must all sources if some containers are in no
// shard, because it cannot be read.
func progress(shards []*stored) map[string]time.Time {
	var all map[string]time.Time
	var seen uint32
	for _, s := range shards {
		if s.covers()&^seen == 0 {
			continue // Newer ones have all of its containers.
		}
		seen |= s.covers()
		if all == nil {
			all = map[string]time.Time{}
			for source, until := range s.progress {
				all[source] = until
			}
			continue
		}
		for source, until := range all {
			own, known := s.progress[source]
			switch {
			case !known:
				delete(all, source)
			case own.Before(until):
				all[source] = own
			}
		}
	}
	if seen != (header{count: 1}).covers() {
		return nil
	}
	return all
}
