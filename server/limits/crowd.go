package limits

import (
	"container/list"
	"iter"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// crowd bounds members that belong to callers, e.g. their connections. A new member is always
// let in. If there are too many, another one gives way: of the origin with the most members, of
// its account with the most, of its credential with the most, the least recently used one. So no
// caller keeps others out, however many accounts or credentials it has. It needs a lock of its
// owner.
type crowd[M any] struct {
	// most is how many members there may be, and perAccount how many of one account.
	most, perAccount int
	all              group[M]
	// uses counts uses, so that the least recent use is known across groups.
	uses uint64
}

// group are members of an origin, an account or a credential, or all of them.
type group[M any] struct {
	size int
	// used is when a member was last used.
	used uint64
	// parts are the accounts of an origin, or the credentials of an account.
	parts map[string]*group[M]
	// members has the *members of a credential, the least recently used first.
	members list.List
}

// member is a member of a crowd. Its place is nil if it is in none.
type member[M any] struct {
	value M
	who   access.Who
	place *list.Element
}

func newCrowd[M any](most, perAccount int) *crowd[M] {
	return &crowd[M]{most: most, perAccount: perAccount}
}

// add lets a member in. It returns the member that gives way to it, or nil.
func (c *crowd[M]) add(m *member[M], who access.Who) (displaced *member[M]) {
	m.who = who
	c.uses++
	groups := c.groups(who)
	for _, g := range groups {
		g.size++
		g.used = c.uses
	}
	m.place = groups[3].members.PushBack(m)
	switch {
	case groups[2].size > c.perAccount:
		displaced = groups[2].yields()
	case c.all.size > c.most:
		displaced = c.all.yields()
	default:
		return nil
	}
	c.remove(displaced)
	return displaced
}

// groups returns the groups of a caller, the widest first: all members, those of its origin, of
// its account and of its credential.
func (c *crowd[M]) groups(who access.Who) [4]*group[M] {
	groups := [4]*group[M]{&c.all}
	for i, name := range [...]string{who.Origin, who.Account, who.Credential} {
		within := groups[i]
		part := within.parts[name]
		if part == nil {
			part = &group[M]{}
			if within.parts == nil {
				within.parts = map[string]*group[M]{}
			}
			within.parts[name] = part
		}
		groups[i+1] = part
	}
	return groups
}

// use makes a member the most recently used one.
func (c *crowd[M]) use(m *member[M]) {
	c.uses++
	groups := c.groups(m.who)
	for _, g := range groups {
		g.used = c.uses
	}
	groups[3].members.MoveToBack(m.place)
}

// remove takes a member out. It does nothing if the member is in no crowd.
func (c *crowd[M]) remove(m *member[M]) {
	if m.place == nil {
		return
	}
	groups := c.groups(m.who)
	groups[3].members.Remove(m.place)
	m.place = nil
	for i, name := range [...]string{"", m.who.Origin, m.who.Account, m.who.Credential} {
		if groups[i].size--; groups[i].size == 0 && i > 0 {
			delete(groups[i-1].parts, name)
		}
	}
}

// yields returns the member that gives way if the group is too large. Of equally large parts,
// the least recently used one loses it.
func (g *group[M]) yields() *member[M] {
	for g.parts != nil {
		var largest *group[M]
		for _, part := range g.parts {
			if largest == nil || part.size > largest.size || part.size == largest.size && part.used < largest.used {
				largest = part
			}
		}
		g = largest
	}
	return g.members.Front().Value.(*member[M])
}

// members yields the members. They may be removed meanwhile.
func (c *crowd[M]) members() iter.Seq[M] {
	return func(yield func(M) bool) {
		for _, origin := range c.all.parts {
			for _, account := range origin.parts {
				for _, credential := range account.parts {
					for e := credential.members.Front(); e != nil; {
						m := e.Value.(*member[M])
						if e = e.Next(); !yield(m.value) {
							return
						}
					}
				}
			}
		}
	}
}
