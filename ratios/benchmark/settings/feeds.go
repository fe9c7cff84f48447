package settings

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/reader"
)

// maxFeeds is how many feeds there can be.
const maxFeeds = 64

// feedKeys are all that can be said of a feed.
var feedKeys = []key[fetch.Feed]{
	text("name", "a DNS label", feedNameProblems, func(f *fetch.Feed) *string { return &f.Name }, "tells the feed apart; its samples have it as their source"),
	text("format", formats(), formatProblems, func(f *fetch.Feed) *string { return (*string)(&f.Format) }, "how it is written"),
	text("file", "a path that begins with /", func(s string) []string { return unless(filepath.IsAbs(s), "it is relative") }, func(f *fetch.Feed) *string { return &f.File }, "a file of the server; one of `file`, `url` and `configMap`"),
	{"url", "where to get it, without redirects from https to http; a user and a password in it are sent and not told", "an http or https URL", "", readURL},
	text("configMap.name", "the name of a ConfigMap", content.IsDNS1123Subdomain, func(f *fetch.Feed) *string { return &f.ConfigMap }, "a ConfigMap in the server's namespace, which the server must be allowed to get"),
	text("configMap.key", "a key of a ConfigMap", validation.IsConfigMapKey, func(f *fetch.Feed) *string { return &f.Key }, "its key"),
	span("interval", fetch.MinInterval, 7*day, fetch.DefaultInterval, func(f *fetch.Feed) *time.Duration { return &f.Interval }, "how often it is read; after a failure sooner, at first after a minute"),
	text("benchmark", "the name of a benchmark", benchmarkProblems, func(f *fetch.Feed) *string { return &f.Benchmark }, "the benchmark of a cloud-csv, which needs it; of other formats the only one to read"),
	{"vcpus", "how many vCPUs machines have whose rows do not say it, e.g. `m7i.large: 2`", "by instance type, 1 to 4096", "", readVCPUs},
}

func readFeeds(v reader.Value, into *Settings) {
	seen := map[string]bool{}
	v.Items(func(v reader.Value) {
		f := fetch.Feed{Interval: fetch.DefaultInterval}
		if readKeys(v, feedKeys, &f) {
			checkFeed(v, &f)
		}
		if seen[f.Name] && f.Name != "" {
			v.KeyFault("name", "%q is the name of another feed", f.Name)
		}
		seen[f.Name] = true
		into.Feeds = append(into.Feeds, f)
	})
	if len(into.Feeds) > maxFeeds {
		v.Fault("want at most %d feeds, got %d", maxFeeds, len(into.Feeds))
	}
}

// checkFeed adds what is missing, or does not fit together.
func checkFeed(v reader.Value, f *fetch.Feed) {
	if f.Name == "" {
		v.KeyFault("name", "must be set")
	}
	if f.Format == "" {
		v.KeyFault("format", "must be set")
	}
	inConfigMap := f.ConfigMap != "" || f.Key != ""
	places := 0
	for _, set := range []bool{f.File != "", f.URL != "", inConfigMap} {
		if set {
			places++
		}
	}
	if places != 1 {
		v.Fault("want exactly one of file, url and configMap, got %d", places)
	}
	if inConfigMap && (f.ConfigMap == "" || f.Key == "") {
		v.KeyFault("configMap", "name and key must be set")
	}
	if f.Format == feed.CloudCSV && f.Benchmark == "" {
		v.KeyFault("benchmark", "must be set: a cloud-csv does not say what was run")
	}
}

func readURL(v reader.Value, into *fetch.Feed) {
	// A bad one may have a password all the same, so it is not told.
	text, _ := v.Text()
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
		v.Fault("want an http or https URL with a host and without #")
		return
	}
	into.URL = text
}

func readVCPUs(v reader.Value, into *fetch.Feed) {
	into.VCPUs = map[string]int{}
	v.Each(func(instanceType string, v reader.Value) {
		var vcpus int
		readNumber(v, 1, 4096, &vcpus)
		into.VCPUs[instanceType] = vcpus
	})
}

// feedNameProblems are what is wrong with the name of a feed. It is the source of
// samples, so it must not be that of others.
func feedNameProblems(name string) []string {
	if name == "agent" || name == "import" {
		return []string{"that is the source of samples that are sent"}
	}
	return content.IsDNS1123Label(name)
}

func formats() string {
	names := make([]string, len(feed.Formats))
	for i, f := range feed.Formats {
		names[i] = string(f)
	}
	last := len(names) - 1
	return fmt.Sprintf("%s or %s", strings.Join(names[:last], ", "), names[last])
}

func formatProblems(name string) []string {
	return unless(slices.Contains(feed.Formats, feed.Format(name)), "there is no such format")
}

// unless is the problem if it is one.
func unless(fine bool, problem string) []string {
	if fine {
		return nil
	}
	return []string{problem}
}
