package policy

import "github.com/workload-resizer/workload-resizer/policy/keys"

// Production is how the ratios are used that production shows.
type Production struct {
	// Mode is Observe or Apply.
	Mode string
}

// Applies reports whether ratios follow what production shows.
func (p *Production) Applies() bool { return p.Mode == Apply }

// Keys implements keys.Section.
func (p *Production) Keys() []keys.Key {
	return []keys.Key{
		keys.Of("mode", &p.Mode, keys.OneOf(Observe, Apply), Observe, "whether [what production shows](../concepts/measured-ratios.md#production) is only suggested (`observe`), or is the ratio of the source `production` (`apply`)"),
	}
}
