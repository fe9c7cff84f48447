package ratios

import (
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Ratio is the performance of one node type. Only the factor between two ratios has a meaning,
// so any unit works if all node types use the same one.
type Ratio struct {
	// CPUPerf is finite and above 0.
	CPUPerf float64
	// MemoryPerf is finite and above 0.
	MemoryPerf float64
	// Provenance is where the ratio comes from.
	Provenance Provenance
	// ExpireTime is when the source drops the ratio; zero if the ratio does not
	// expire.
	ExpireTime time.Time
}

// Provenance is where a value comes from.
type Provenance struct {
	// Source is the name of the provider.
	Source string
	// UpdateTime is when the value was last written at its source; zero if
	// the source does not know.
	UpdateTime time.Time
	// Author is who wrote the value; empty if the source does not know.
	Author string
	// CredentialID identifies the credential of the author; empty if it is not known.
	CredentialID string
	// Reason is why, in the author's words; empty if the source does not know.
	Reason string
}

// Layer is what one provider supplies: ratios, and what users want if they write both in one place. It must
// not change after it is reported.
type Layer struct {
	// Baseline is the node type that requests are written for; empty if the
	// provider sets none.
	Baseline string
	// Ratios by node type. Observed are ratios that the provider only shows, next to those in effect: they change no size.
	Ratios, Observed map[string]Ratio
	// RelativeTo makes the layer relative: the performances in Ratios are
	// multiples of this node type's. Empty means that they are in the unit that
	// all layers share.
	//
	// A relative layer supplies only Ratios and Observed, under these rules:
	//   - They are ignored while no layer that is not relative names RelativeTo.
	//   - The ratios of RelativeTo and of the baseline are ignored: other layers
	//     set them.
	//   - The ratio of a CPU model is ignored if a layer of higher precedence
	//     names the node type.
	//   - A MemoryPerf of 0 stands for the value in the next layer that is not
	//     relative and names the node type; for a CPU model that none names, the
	//     next layer that names the model's node type. Without such a layer, it
	//     stands for the value of RelativeTo.
	RelativeTo string
	// MaxSpeedRatio is how many times faster or slower than its baseline a node type
	// may be to be used: finite and at least 1, or 0 if the provider sets none.
	MaxSpeedRatio float64
	// Settings are what applies to all pods, unless a rule overrides it.
	Settings keys.Partial[policy.Settings]
	// Cluster is what applies to the cluster as a whole.
	Cluster keys.Partial[policy.Cluster]
	// Rules apply to some pods only. The first rule that matches a pod is used.
	Rules []Rule
}
