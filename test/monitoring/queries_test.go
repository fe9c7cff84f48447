package monitoring

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/metriclabels"
)

var (
	// metricName matches metrics in a query, selection matches metrics with labels, matcher
	// matches label matchers, and grouping matches the labels to group by.
	metricName = regexp.MustCompile(`\b(?:workload_resizer|grpc_server|process|go)_[a-z0-9_]+`)
	selection  = regexp.MustCompile(`\b([a-z0-9_]+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	grouping   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	labelValue = regexp.MustCompile(`"[^"]*"`)
)

// queries runs every query, and checks that every metric, label and label value in it exists: a
// query for one that does not exist would only return nothing.
func (s *scene) queries(t *testing.T) {
	d := readDashboard(t)
	all := d.queries()
	for _, a := range alerts(t) {
		all = append(all, a.Expr)
	}
	labels := map[string]map[model.LabelName][]string{}
	of := func(metric string) map[model.LabelName][]string {
		if labels[metric] == nil {
			// Some exist only after the first read of a source of usage, and the next scrape.
			localcluster.Eventually(t, "the metric "+metric, func() error {
				if labels[metric] = s.labels(t, metric); len(labels[metric]) == 0 {
					return errors.New("the server does not have it")
				}
				return nil
			})
		}
		return labels[metric]
	}
	for _, query := range all {
		if _, _, _, err := s.prometheus.Query(t.Context(), query, time.Now()); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		bare := labelValue.ReplaceAllString(query, "")
		known := map[model.LabelName]bool{}
		for _, metric := range metricName.FindAllString(withoutLabels(bare), -1) {
			for label := range of(metric) {
				known[label] = true
			}
		}
		for _, match := range selection.FindAllStringSubmatch(query, -1) {
			if !metricName.MatchString(match[1]) {
				continue // up and ALERTS are metrics of Prometheus.
			}
			there := of(match[1])
			for _, wanted := range matcher.FindAllStringSubmatch(match[2], -1) {
				label, operator, value := wanted[1], wanted[2], wanted[3]
				values, ok := there[model.LabelName(label)]
				if len(there) > 0 && !ok {
					t.Errorf("%s has no label %s: %s", match[1], label, query)
				}
				if missing := unmatched(t, values, operator, value); ok && missing != "" {
					t.Errorf("the label %s of %s is never %s: %s", label, match[1], missing, query)
				}
			}
		}
		for _, match := range grouping.FindAllStringSubmatch(bare, -1) {
			for label := range strings.SplitSeq(match[1], ",") {
				if label = strings.TrimSpace(label); len(known) > 0 && !known[model.LabelName(label)] {
					t.Errorf("label %s does not exist: %s", label, query)
				}
			}
		}
	}
}

// withoutLabels removes label matchers and groupings from a query.
func withoutLabels(query string) string {
	return grouping.ReplaceAllString(selection.ReplaceAllString(query, "$1"), "")
}

// unmatched returns the value in a matcher that does not match any of the values, or "". In a
// regular expression, it checks each alternative separately.
func unmatched(t *testing.T, values []string, operator, wanted string) string {
	t.Helper()
	alternatives := []string{regexp.QuoteMeta(wanted)}
	if strings.HasSuffix(operator, "~") {
		alternatives = strings.Split(wanted, "|")
	}
	for _, alternative := range alternatives {
		pattern, err := regexp.Compile("^(?:" + alternative + ")$")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(values, pattern.MatchString) {
			return alternative
		}
	}
	return ""
}

// labels returns the labels of all series of a metric, including its name, with their possible
// values: all values of a closed set, or else the existing values.
func (s *scene) labels(t *testing.T, metric string) map[model.LabelName][]string {
	t.Helper()
	series, _, _, err := s.prometheus.Series(t.Context(), []string{metric}, time.Now().Add(-time.Hour), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	closed := metriclabels.Values("n2d", "n4", "c3")
	labels := map[model.LabelName][]string{}
	for _, set := range series {
		for label, value := range set {
			if all, ok := closed[string(label)]; ok && strings.HasPrefix(metric, "workload_resizer_") {
				labels[label] = all
			} else {
				labels[label] = append(labels[label], string(value))
			}
		}
	}
	return labels
}
