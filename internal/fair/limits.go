package fair

import "iter"

// Limits are how much may be held at the same time: by all, and by each origin, account and
// credential. 0 means no limit.
type Limits struct{ All, PerOrigin, PerAccount, PerCredential int }

// Full is why there is no room: the level whose limit is reached, that limit, and how many shares
// have reached it.
type Full struct {
	Level        Level
	Most, Shares int
}

// sum is how much is held, in how many shares.
type sum struct{ held, shares int }

// Full returns why a caller cannot hold an amount if this is what others hold already: the widest
// level without room. It returns nil if there is room. It is for those that count again each time.
func (l *Limits) Full(who Key, amount int, others iter.Seq2[Key, int]) *Full {
	var all [levels]sum
	for other, held := range others {
		for level := range levels {
			if who.prefix(level) != other.prefix(level) {
				break
			}
			all[level].held += held
			all[level].shares++
		}
	}
	return l.exceeded(who, amount, &all)
}

// exceeded returns the widest level that has no room for an amount; nil if all have. all is what is
// held at the levels of a caller.
func (l *Limits) exceeded(who Key, amount int, all *[levels]sum) *Full {
	for level := range levels {
		if most := l.at(level); most > 0 && who.has(level) && all[level].held+amount > most {
			return &Full{level, most, all[level].shares}
		}
	}
	return nil
}

func (l *Limits) at(level Level) int {
	return [levels]int{l.All, l.PerOrigin, l.PerAccount, l.PerCredential}[level]
}

// Half returns half of a number, rounded up. If callers cannot lose what they hold, each origin is often
// limited to half of all, each of its accounts to half of that, and so on: then, others find room.
func Half(n int) int { return (n + 1) / 2 }
