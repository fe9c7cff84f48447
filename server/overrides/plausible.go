package overrides

import "github.com/workload-resizer/workload-resizer/ratios"

// implausibleError means that a change would make the ratios of node types implausible, so that
// these are no longer used.
type implausibleError struct{ unused []ratios.UnusedType }

func (e *implausibleError) Error() string { return ratios.DescribeUnused(e.unused) }

// checkPlausible returns an error if the table after a change has implausible ratios that it does
// not have without the change; before is nil if there is no such table. The change is judged as a whole: a ratio can change those of other
// node types, as their baseline or as the unit of measured ones.
func (s *Service) checkPlausible(before, after *ratios.Table) error {
	if len(after.UnusedTypes()) == 0 {
		return nil
	}
	if unused := after.NewlyUnused(before); len(unused) > 0 {
		return &implausibleError{unused}
	}
	return nil
}
