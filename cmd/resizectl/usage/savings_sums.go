package usage

import (
	"encoding/json"
	"fmt"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// savings is what the server listed, added up.
type savings struct {
	workloads, namespaces []*saver
	total                 *saver
	currency              string
}

// saver is the savings of a workload or a namespace, or of all, with exact amounts.
type saver struct {
	*workloadresizerv1.Savings
	authored, requested, saved, measured, used amounts
}

// savingsOf adds up savings of workloads, which are ordered by namespace.
func savingsOf(resp *workloadresizerv1.ListSavingsResponse) (*savings, error) {
	all := &savings{total: sumOf(""), currency: resp.GetCurrency()}
	for _, message := range resp.GetSavings() {
		of := &saver{Savings: message}
		if err := of.read(); err != nil {
			return nil, fmt.Errorf("read the savings of %s in namespace %s: %w", saverName(message), message.GetNamespace(), err)
		}
		if n := len(all.namespaces); n == 0 || all.namespaces[n-1].GetNamespace() != message.GetNamespace() {
			all.namespaces = append(all.namespaces, sumOf(message.GetNamespace()))
		}
		all.workloads = append(all.workloads, of)
		for _, to := range []*saver{all.namespaces[len(all.namespaces)-1], all.total} {
			to.add(of)
		}
	}
	for _, of := range append([]*saver{all.total}, all.namespaces...) {
		of.write()
	}
	return all, nil
}

// sumOf returns the sum of nothing.
func sumOf(namespace string) *saver {
	return &saver{Savings: &workloadresizerv1.Savings{Namespace: namespace}}
}

// parts are the amounts, and their names in the API.
func (s *saver) parts() []struct {
	name string
	*amounts
	text **workloadresizerv1.ResourceAmounts
} {
	return []struct {
		name string
		*amounts
		text **workloadresizerv1.ResourceAmounts
	}{
		{"authored", &s.authored, &s.Authored}, {"requested", &s.requested, &s.Requested}, {"saved", &s.saved, &s.Saved},
		{"measured", &s.measured, &s.Measured}, {"used", &s.used, &s.Used},
	}
}

func (s *saver) read() (err error) {
	for _, part := range s.parts() {
		if *part.amounts, err = amountsOf(*part.text); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func (s *saver) write() {
	for _, part := range s.parts() {
		*part.text = &workloadresizerv1.ResourceAmounts{Cpu: part.cpu.String(), Memory: part.memory.String()}
	}
}

// add adds other savings. A cost that is not known makes that of the sum unknown.
func (s *saver) add(o *saver) {
	if s.Pods+s.Reverts+s.OomKills == 0 {
		s.AuthoredCost, s.RequestedCost, s.UsedCost = o.AuthoredCost, o.RequestedCost, o.UsedCost
	} else {
		s.AuthoredCost, s.RequestedCost, s.UsedCost = plus(s.AuthoredCost, o.AuthoredCost), plus(s.RequestedCost, o.RequestedCost), plus(s.UsedCost, o.UsedCost)
	}
	s.Pods, s.UnknownPods, s.Reverts, s.OomKills = s.Pods+o.Pods, s.UnknownPods+o.UnknownPods, s.Reverts+o.Reverts, s.OomKills+o.OomKills
	others := o.parts()
	for i, part := range s.parts() {
		part.add(*others[i].amounts)
	}
}

// savedCost is what is saved an hour; nil if that is not known.
func (s *saver) savedCost() *float64 {
	if s.AuthoredCost == nil || s.RequestedCost == nil {
		return nil
	}
	return new(*s.AuthoredCost - *s.RequestedCost)
}

// object returns the fields of the API.
func (s *saver) object() (map[string]any, error) { return print.Object(s.Savings) }

func messages(of []*saver) []*workloadresizerv1.Savings {
	all := make([]*workloadresizerv1.Savings, len(of))
	for i, s := range of {
		all[i] = s.Savings
	}
	return all
}

// document prints everything: the workloads as in the API, and the sums over them in the same form.
func (s *savings) document(o *print.Output) error {
	if o.Format != print.FormatJSON && o.Format != print.FormatYAML {
		return s.selected(o)
	}
	raw := func(of ...*saver) ([]json.RawMessage, error) {
		all := make([]json.RawMessage, len(of))
		for i, s := range of {
			text, err := print.JSON(s.Savings, "")
			if err != nil {
				return nil, err
			}
			all[i] = text
		}
		return all, nil
	}
	workloads, err := raw(s.workloads...)
	if err != nil {
		return err
	}
	sums, err := raw(append([]*saver{s.total}, s.namespaces...)...)
	if err != nil {
		return err
	}
	return o.Value(struct {
		Savings    []json.RawMessage `json:"savings"`
		Namespaces []json.RawMessage `json:"namespaces"`
		Total      json.RawMessage   `json:"total"`
		Currency   string            `json:"currency"`
	}{workloads, sums[1:], sums[0], s.currency})
}

// selected prints what the template of the format selects from the same document.
func (s *savings) selected(o *print.Output) error {
	document := map[string]any{"currency": s.currency}
	for name, of := range map[string][]*saver{"savings": s.workloads, "namespaces": s.namespaces} {
		objects := []any{}
		for _, one := range of {
			object, err := one.object()
			if err != nil {
				return err
			}
			objects = append(objects, object)
		}
		document[name] = objects
	}
	total, err := s.total.object()
	if err != nil {
		return err
	}
	document["total"] = total
	return o.Format.Select(o.Out, document)
}
