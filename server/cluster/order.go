package cluster

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/usage"
)

// amounts are what workloads can be ordered by, besides their names.
var amounts = map[string]func(*demand.Saver) int64{
	"pods":             func(s *demand.Saver) int64 { return int64(s.Pods) },
	"reverts":          func(s *demand.Saver) int64 { return int64(s.Reverts) },
	"requested_cpu":    func(s *demand.Saver) int64 { return s.Requested.CPU },
	"requested_memory": func(s *demand.Saver) int64 { return s.Requested.Memory },
	"saved_cpu":        func(s *demand.Saver) int64 { return s.Saved.CPU },
	"saved_memory":     func(s *demand.Saver) int64 { return s.Saved.Memory },
	"throttled":        func(s *demand.Saver) int64 { return int64(s.Throttled) },
}

// byName is the order by namespace, kind and name.
const byName = "name"

// order is the order of a list of workloads.
type order struct {
	// amount is nil for the order by name.
	amount     func(*demand.Saver) int64
	descending bool
}

// orderOf reads an order, such as "pods desc".
func orderOf(text string) (o order, err error) {
	field, direction, _ := strings.Cut(cmp.Or(text, byName), " ")
	if o.amount = amounts[field]; o.amount == nil && field != byName || direction != "" && direction != "asc" && direction != "desc" {
		fields := append([]string{byName}, slices.Sorted(maps.Keys(amounts))...)
		return o, rpcerror.BadField("order_by", "must be one of "+strings.Join(fields, ", ")+`, alone or with " desc"`)
	}
	o.descending = direction == "desc"
	return o, nil
}

// isDefault reports whether it is the order in which workloads are found.
func (o order) isDefault() bool { return o.amount == nil && !o.descending }

// place is where a list has got: the amount of the last workload, 0 in the order by name, and its name.
type place struct {
	amount int64
	of     usage.Workload
}

// placeOf returns the place of a workload.
func (o order) placeOf(s *demand.Saver) (p place) {
	if o.amount != nil {
		p.amount = o.amount(s)
	}
	p.of = s.Workload
	return p
}

// compare orders places. Workloads with the same amount are in the order of their names in both directions.
func (o order) compare(a, b place) int {
	amounts, names := cmp.Compare(a.amount, b.amount), demand.CompareSavers(a.of, b.of)
	switch {
	case o.descending && o.amount == nil:
		return -names
	case o.descending:
		return cmp.Or(-amounts, names)
	}
	return cmp.Or(amounts, names)
}

// separator occurs in no part of a place.
const separator = "\x00"

func (p place) text() string {
	return strings.Join([]string{strconv.FormatInt(p.amount, 10), p.of.Namespace, p.of.Kind, p.of.Name}, separator)
}

// placeAt reads what text returned.
func placeAt(text string) (p place, err error) {
	parts := strings.Split(text, separator)
	if len(parts) != 4 {
		return p, errors.New("it is of another list")
	}
	p.of = usage.Workload{Namespace: parts[1], Kind: parts[2], Name: parts[3]}
	p.amount, err = strconv.ParseInt(parts[0], 10, 64)
	return p, err
}
