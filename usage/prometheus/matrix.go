package prometheus

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// identified leaves out what an endpoint without UIDs measures of containers that another endpoint
// measures with them.
func identified(matrix model.Matrix) model.Matrix {
	const uid = "pod_uid"
	known := map[model.Fingerprint][]*model.SampleStream{}
	for _, series := range matrix {
		if _, has := series.Metric[uid]; has {
			id := without(series.Metric, uid)
			known[id] = append(known[id], series)
		}
	}
	if len(known) == 0 {
		return matrix
	}
	return slices.DeleteFunc(matrix, func(series *model.SampleStream) bool {
		if _, has := series.Metric[uid]; has {
			return false
		}
		better := known[series.Metric.Fingerprint()]
		series.Values = slices.DeleteFunc(series.Values, func(point model.SamplePair) bool {
			return slices.ContainsFunc(better, func(other *model.SampleStream) bool {
				_, found := slices.BinarySearchFunc(other.Values, point.Timestamp, func(p model.SamplePair, at model.Time) int {
					return cmp.Compare(p.Timestamp, at)
				})
				return found
			})
		})
		return len(series.Values) == 0
	})
}

// without returns the fingerprint of labels without one of them.
func without(labels model.Metric, name model.LabelName) model.Fingerprint {
	rest := labels.Clone()
	delete(rest, name)
	return rest.Fingerprint()
}

// check returns the series of an answer to a query over a range, in the order of their labels. It
// fails if no Prometheus would give the answer: nothing of it can be trusted.
func check(value model.Value, r promv1.Range) (model.Matrix, error) {
	if value == nil {
		return nil, errors.New("an answer without data")
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("the answer is a %s instead of a matrix", value.Type())
	}
	first, last := model.TimeFromUnixNano(r.Start.UnixNano()), model.TimeFromUnixNano(r.End.UnixNano())
	// The text of labels takes longer than anything else.
	labels := make(map[*model.SampleStream]string, len(matrix))
	for _, series := range matrix {
		if series == nil || len(series.Values) == 0 {
			return nil, errors.New("the answer has a series without values")
		}
		labels[series] = series.Metric.String()
		if series.Values[0].Timestamp < first || series.Values[len(series.Values)-1].Timestamp > last {
			return nil, fmt.Errorf("the answer has %s at a time that was not asked for", series.Metric)
		}
		if !slices.IsSortedFunc(series.Values, func(a, b model.SamplePair) int {
			return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), -1)
		}) {
			return nil, fmt.Errorf("the answer does not have %s in the order of time", series.Metric)
		}
	}
	slices.SortFunc(matrix, func(a, b *model.SampleStream) int { return cmp.Compare(labels[a], labels[b]) })
	for i := range matrix[min(1, len(matrix)):] {
		if labels[matrix[i]] == labels[matrix[i+1]] {
			return nil, fmt.Errorf("the answer has %s twice", matrix[i].Metric)
		}
	}
	return matrix, nil
}
