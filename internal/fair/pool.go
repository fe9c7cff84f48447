package fair

import (
	"container/list"
	"iter"
)

// Pool has what callers hold of something that is limited. It needs a lock of its owner.
type Pool[T any] struct {
	limits Limits
	// groups are all, and the origins, accounts and credentials that hold something.
	groups [levels]map[Key]*group[T]
	// uses counts uses, so that the least recent use is known across groups.
	uses uint64
}

// group is an origin, an account or a credential, or all of them.
type group[T any] struct {
	level  Level
	key    Key
	within *group[T]
	sum
	// used is when a share was last used.
	used uint64
	// parts are the accounts of an origin, or the credentials of an account. place is the index
	// among those of within.
	parts []*group[T]
	place int
	// uses has the *Shares of a credential, the least recently used first.
	uses list.List
}

// Share is what a caller holds of a Pool. The zero value holds nothing.
type Share[T any] struct {
	Value T

	pool *Pool[T]
	// group is the credential that holds the share, which has the place in the order of its uses.
	group  *group[T]
	place  *list.Element
	amount int
}

// NewPool returns a Pool of which nothing is held.
func NewPool[T any](limits Limits) *Pool[T] {
	p := &Pool[T]{limits: limits}
	for l := range p.groups {
		p.groups[l] = map[Key]*group[T]{}
	}
	p.groups[All][Key{}] = &group[T]{}
	return p
}

// Take lets a caller hold an amount, or returns why there is no room: the widest level without.
// The share must hold nothing before.
func (p *Pool[T]) Take(s *Share[T], who Key, amount int) *Full {
	if full := p.full(who, amount); full != nil {
		return full
	}
	p.Add(s, who, amount)
	return nil
}

func (p *Pool[T]) full(who Key, amount int) *Full {
	var all [levels]sum
	for level := range levels {
		if g := p.groups[level][who.prefix(level)]; g != nil {
			all[level] = g.sum
		}
	}
	return p.limits.exceeded(who, amount, &all)
}

// Insert lets a caller hold one of what is limited. If that is too much, another share gives way
// and is returned: the least recently used one of the credential that holds most, in the account
// that holds most, in the origin that holds most. If only the caller's account has too much, it
// loses a share itself. The share must hold nothing before.
func (p *Pool[T]) Insert(s *Share[T], who Key) (evicted *Share[T]) {
	p.Add(s, who, 1)
	for g := s.group; g != nil; g = g.within {
		if most := p.limits.at(g.level); most > 0 && g.key.has(g.level) && g.held > most {
			evicted = g.yields()
			evicted.Release()
			return evicted
		}
	}
	return nil
}

// Held returns how much a caller holds at a level.
func (p *Pool[T]) Held(level Level, who Key) int {
	if g := p.groups[level][who.prefix(level)]; g != nil {
		return g.held
	}
	return 0
}

// Shares yields all shares. The one that was yielded last may be released.
func (p *Pool[T]) Shares() iter.Seq[*Share[T]] {
	return func(yield func(*Share[T]) bool) {
		for _, credential := range p.groups[Credential] {
			for e := credential.uses.Front(); e != nil; {
				s := e.Value.(*Share[T])
				if e = e.Next(); !yield(s) {
					return
				}
			}
		}
	}
}

// Add lets a caller hold an amount, whether there is room or not. The share must hold nothing before.
func (p *Pool[T]) Add(s *Share[T], who Key, amount int) {
	g := p.groups[All][Key{}]
	for level := Origin; level < levels; level++ {
		prefix := who.prefix(level)
		part := p.groups[level][prefix]
		if part == nil {
			part = &group[T]{level: level, key: prefix, within: g, place: len(g.parts)}
			g.parts = append(g.parts, part)
			p.groups[level][prefix] = part
		}
		g = part
	}
	s.pool, s.group, s.place, s.amount = p, g, g.uses.PushBack(s), amount
	p.uses++
	for ; g != nil; g = g.within {
		g.held += amount
		g.shares++
		g.used = p.uses
	}
}

// Holds reports whether the share holds something: it was neither released nor has given way.
func (s *Share[T]) Holds() bool { return s.group != nil }

// Key returns who holds the share.
func (s *Share[T]) Key() Key { return s.group.key }

// Use makes the share the most recently used one.
func (s *Share[T]) Use() {
	s.pool.uses++
	s.group.uses.MoveToBack(s.place)
	for g := s.group; g != nil; g = g.within {
		g.used = s.pool.uses
	}
}

// Release returns what the share holds. Without anything, it does nothing.
func (s *Share[T]) Release() {
	if s.group == nil {
		return
	}
	s.group.uses.Remove(s.place)
	for g := s.group; g != nil; g = g.within {
		g.held -= s.amount
		if g.shares--; g.shares == 0 && g.within != nil {
			g.within.drop(g)
			delete(s.pool.groups[g.level], g.key)
		}
	}
	s.group = nil
}

// yields returns the share that gives way if the group holds too much. Of parts that hold as much,
// the one that was used least recently loses it.
func (g *group[T]) yields() *Share[T] {
	for g.level != Credential {
		most := g.parts[0]
		for _, part := range g.parts[1:] {
			if part.held > most.held || part.held == most.held && part.used < most.used {
				most = part
			}
		}
		g = most
	}
	return g.uses.Front().Value.(*Share[T])
}

// drop removes a part that holds nothing.
func (g *group[T]) drop(part *group[T]) {
	last := len(g.parts) - 1
	moved := g.parts[last]
	g.parts[part.place], moved.place = moved, part.place
	g.parts[last] = nil
	g.parts = g.parts[:last]
}
