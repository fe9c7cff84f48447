package ratios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/workload-resizer/workload-resizer/policy"
)

// revision hashes everything that sizes depend on. Rule names, provenance and candidates are
// not part of it. Neither are the guard and the pace: they decide when and how a pod gets its size, not
// which. Of the demand, only whether usage is applied, and when, is part of it: what usage shows changes all the time.
func revision(profiles []*Profile) string {
	h := sha256.New()
	write := func(fields ...string) {
		for _, f := range fields {
			// Quoting separates fields unambiguously. A hash never
			// returns an error.
			_, _ = io.WriteString(h, strconv.Quote(f))
		}
	}
	for _, p := range profiles {
		p.Identify(write)
		write(p.Baseline, fmt.Sprint(p.Bounds), strconv.Itoa(len(p.names)))
		for _, name := range p.names {
			e := p.entries[name]
			write(name, fmt.Sprint(e.Ratio.CPUPerf), fmt.Sprint(e.Ratio.MemoryPerf), strconv.FormatBool(e.Unused == ""))
		}
		switch p.Usage() {
		case policy.Apply:
			write("usage")
		case policy.Initial:
			write("usage", "initial")
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
