package usage

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// monthHours is the number of hours in a month, as the prices of providers count them.
const monthHours = 730

// sums are sums over containers or, of savings, over pods. They are exact.
type sums struct {
	pods, unknownPods, reverts, kills int64
	// authored and requested are of all, and all others of those that are not unknown. compared is what the authors of
	// these requested.
	authored, requested, compared, used, recommended, saved, measured amounts
	cost                                                              cost
}

// cost is what something costs an hour: as authored, as it could or would be, and what is used of it; nil if that of some
// of it is not known.
type cost struct {
	authored, changed, used *float64
	// of is how much has a cost. That of nothing is not unknown.
	of int64
}

// part is one of the amounts, and what the API says of it.
type part struct {
	name string
	to   *amounts
	from *workloadresizerv1.ResourceAmounts
}

func readParts(parts ...part) (err error) {
	for _, p := range parts {
		if *p.to, err = amountsOf(p.from); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// read reads the sums of one container.
func (s *sums) read(from *workloadresizerv1.UsageSums) error {
	if from == nil {
		from = &workloadresizerv1.UsageSums{}
	}
	*s = sums{pods: from.GetPods(), unknownPods: from.GetUnknownPods()}
	s.cost = cost{authored: from.AuthoredCost, changed: from.RecommendedCost, of: s.known()}
	err := readParts(part{"authored", &s.authored, from.GetAuthored()}, part{"requested", &s.requested, from.GetRequested()},
		part{"compared", &s.compared, from.GetCompared()}, part{"used", &s.used, from.GetUsed()}, part{"recommended", &s.recommended, from.GetRecommended()})
	s.saved = s.compared.less(s.recommended)
	return err
}

// readSavings reads the savings of a workload.
func (s *sums) readSavings(from *workloadresizerv1.Savings) error {
	*s = sums{pods: from.GetPods(), unknownPods: from.GetUnknownPods(), reverts: from.GetReverts(), kills: from.GetOomKills()}
	s.cost = cost{authored: from.AuthoredCost, changed: from.RequestedCost, used: from.UsedCost, of: s.pods + s.reverts + s.kills}
	return readParts(part{"authored", &s.authored, from.GetAuthored()}, part{"requested", &s.requested, from.GetRequested()},
		part{"saved", &s.saved, from.GetSaved()}, part{"measured", &s.measured, from.GetMeasured()}, part{"used", &s.used, from.GetUsed()})
}

// add adds other sums.
func (s *sums) add(o *sums) {
	s.cost.add(o.cost)
	s.pods, s.unknownPods, s.reverts, s.kills = s.pods+o.pods, s.unknownPods+o.unknownPods, s.reverts+o.reverts, s.kills+o.kills
	s.authored.add(o.authored)
	s.requested.add(o.requested)
	s.compared.add(o.compared)
	s.used.add(o.used)
	s.recommended.add(o.recommended)
	s.saved.add(o.saved)
	s.measured.add(o.measured)
}

// add adds another cost. One that is not known makes the cost of both unknown, unless it is the cost of nothing.
func (c *cost) add(o cost) {
	switch {
	case c.of == 0:
		*c = o
	case o.of > 0:
		*c = cost{plus(c.authored, o.authored), plus(c.changed, o.changed), plus(c.used, o.used), c.of + o.of}
	}
}

func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// saved is what is saved an hour; nil if that is not known.
func (c *cost) saved() *float64 {
	if c.authored == nil || c.changed == nil {
		return nil
	}
	return new(*c.authored - *c.changed)
}

// known is the number of those that are not unknown.
func (s *sums) known() int64 { return s.pods - s.unknownPods }

// unknown is what the authors of the other containers requested.
func (s *sums) unknown() amounts { return s.authored.less(s.compared) }

// amounts are exact amounts of both resources. The zero value is none of either.
type amounts struct{ cpu, memory resource.Quantity }

// amountsOf parses amounts of the API. Absent amounts are 0.
func amountsOf(a *workloadresizerv1.ResourceAmounts) (amounts, error) {
	cpu, err := quantityOf(a.GetCpu(), resource.DecimalSI)
	if err != nil {
		return amounts{}, fmt.Errorf("cpu: %w", err)
	}
	memory, err := quantityOf(a.GetMemory(), resource.BinarySI)
	if err != nil {
		return amounts{}, fmt.Errorf("memory: %w", err)
	}
	return amounts{cpu, memory}, nil
}

func quantityOf(text string, format resource.Format) (resource.Quantity, error) {
	if text == "" {
		return resource.Quantity{Format: format}, nil
	}
	q, err := sizing.Quantity(text)
	if err != nil {
		return q, fmt.Errorf("the server's amount %q is not a quantity", text)
	}
	// A sum has the format of its first part.
	q.Format = format
	return q, nil
}

func (a *amounts) add(b amounts) {
	a.cpu.Add(b.cpu)
	a.memory.Add(b.memory)
}

// less returns a without b.
func (a amounts) less(b amounts) amounts {
	difference := amounts{a.cpu.DeepCopy(), a.memory.DeepCopy()}
	difference.cpu.Sub(b.cpu)
	difference.memory.Sub(b.memory)
	return difference
}

// fields are amounts in documents.
type fields struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

func (a amounts) fields() *fields {
	return &fields{a.cpu.String(), a.memory.String()}
}

func (a amounts) inAPI() *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: a.cpu.String(), Memory: a.memory.String()}
}
