package limits

import (
	"container/list"
	"iter"
)

// crowd bounds members that belong to groups, e.g. the connections of each caller. A new
// member is always let in. If there are too many, the largest group loses its least recently
// used member, so no group keeps others out. It needs a lock of its owner.
type crowd[M any] struct {
	// most is how many members there may be, and perGroup how many in one group.
	most, perGroup int
	// groups has the *members of each group, the least recently used first.
	groups map[string]*list.List
	size   int
	// uses counts uses, so that the least recent use is known across groups.
	uses uint64
}

// member is a member of a crowd. Its place is nil if it is in none.
type member[M any] struct {
	value M
	group string
	place *list.Element
	used  uint64
}

func newCrowd[M any](most, perGroup int) *crowd[M] {
	return &crowd[M]{most: most, perGroup: perGroup, groups: map[string]*list.List{}}
}

// add lets a member in. It returns the member that gives way to it, or nil.
func (c *crowd[M]) add(m *member[M], group string) (displaced *member[M]) {
	all := c.groups[group]
	if all == nil {
		all = list.New()
		c.groups[group] = all
	}
	m.group, m.place = group, all.PushBack(m)
	c.size++
	c.stamp(m)
	switch {
	case all.Len() > c.perGroup:
		displaced = oldest[M](all)
	case c.size > c.most:
		displaced = c.largest()
	default:
		return nil
	}
	c.remove(displaced)
	return displaced
}

// use makes a member the most recently used one of its group.
func (c *crowd[M]) use(m *member[M]) {
	c.groups[m.group].MoveToBack(m.place)
	c.stamp(m)
}

func (c *crowd[M]) stamp(m *member[M]) {
	c.uses++
	m.used = c.uses
}

// remove takes a member out. It does nothing if the member is in no crowd.
func (c *crowd[M]) remove(m *member[M]) {
	if m.place == nil {
		return
	}
	all := c.groups[m.group]
	all.Remove(m.place)
	m.place = nil
	c.size--
	if all.Len() == 0 {
		delete(c.groups, m.group)
	}
}

// largest returns the least recently used member of the largest group; of equally large
// groups, the least recently used of all.
func (c *crowd[M]) largest() *member[M] {
	var largest *list.List
	for _, all := range c.groups {
		if largest == nil || all.Len() > largest.Len() || all.Len() == largest.Len() && oldest[M](all).used < oldest[M](largest).used {
			largest = all
		}
	}
	return oldest[M](largest)
}

// all yields the members. They may be removed meanwhile.
func (c *crowd[M]) all() iter.Seq[M] {
	return func(yield func(M) bool) {
		for _, group := range c.groups {
			for e := group.Front(); e != nil; {
				m := e.Value.(*member[M])
				if e = e.Next(); !yield(m.value) {
					return
				}
			}
		}
	}
}

func oldest[M any](group *list.List) *member[M] { return group.Front().Value.(*member[M]) }
