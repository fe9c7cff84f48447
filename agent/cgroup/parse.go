package cgroup

import "bytes"

// Count is a value of a control group.
type Count struct {
	N int64
	// Known means that the kernel offers the value.
	Known bool
}

// Since returns by how much a counter has grown, or all of it if it was reset.
func (c Count) Since(before Count) Count {
	if !c.Known || !before.Known {
		return Count{}
	}
	if c.N < before.N {
		return c
	}
	return Count{c.N - before.N, true}
}

// Plus returns a sum, which is known if both are.
func (c Count) Plus(other Count) Count {
	if !c.Known || !other.Known {
		return Count{}
	}
	return Count{c.N + other.N, true}
}

// number parses a file of one number.
func number(content []byte) Count {
	n, ok := decimal(bytes.TrimSpace(content))
	return Count{n, ok}
}

// field returns a line's value in a file such as memory.stat: "<key> <number>" per line.
func field(content []byte, key string) Count {
	for len(content) > 0 {
		line := content
		if end := bytes.IndexByte(content, '\n'); end >= 0 {
			line, content = content[:end], content[end+1:]
		} else {
			content = nil
		}
		if len(line) > len(key) && line[len(key)] == ' ' && string(line[:len(key)]) == key {
			return number(line[len(key)+1:])
		}
	}
	return Count{}
}

// stalled returns how long at least one task was waiting, in microseconds, from a pressure file:
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345".
func stalled(content []byte) Count {
	rest, ok := bytes.CutPrefix(content, []byte("some "))
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	_, total, has := bytes.Cut(line, []byte("total="))
	if !ok || !has {
		return Count{}
	}
	return number(total)
}

// decimal parses digits only, without the copy that strconv needs.
func decimal(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int64(d-'0')
	}
	return n, true
}
