package settings

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// maxFeeds is the maximum number of feeds.
const maxFeeds = 64

// feedKeys are all keys of a feed.
var feedKeys = []key[fetch.Feed]{
	text("name", "a DNS label", feedNameProblems, func(f *fetch.Feed) *string { return &f.Name }, "unique name of the feed, also the source of its samples"),
	text("format", formats(), formatProblems, func(f *fetch.Feed) *string { return (*string)(&f.Format) }, "format of the feed"),
	text("file", "an absolute path", func(s string) []string { return unless(filepath.IsAbs(s), "it must begin with /") }, func(f *fetch.Feed) *string { return &f.File }, "a file on the server; set exactly one of `file`, `url` and `configMap`"),
	{"url", "the URL of the feed; it must answer 200 or 304, after up to 5 redirects. Redirects from https to http and the metadata services of clouds are refused; a proxy finds addresses itself, so it must refuse these; a user and password in the URL are sent, but never shown", "an http or https URL", "", readURL},
	text("configMap.name", "the name of a ConfigMap", content.IsDNS1123Subdomain, func(f *fetch.Feed) *string { return &f.ConfigMap }, "a ConfigMap in the server's namespace, which the server must be allowed to get"),
	text("configMap.key", "a key of a ConfigMap", validation.IsConfigMapKey, func(f *fetch.Feed) *string { return &f.Key }, "the key in the ConfigMap"),
	span("interval", fetch.MinInterval, 7*day, fetch.DefaultInterval, func(f *fetch.Feed) *time.Duration { return &f.Interval }, "how often the feed is read; after a failure, it is retried after 1, 2, 4, … minutes. A download can take a minute. `Retry-After` is respected for up to a day"),
	text("benchmark", "the name of a benchmark", benchmarkProblems, func(f *fetch.Feed) *string { return &f.Benchmark }, "the benchmark of a `cloud-csv` feed, for which it is required; for other formats, the only benchmark to read"),
	{"insecure", "allows a URL that begins with http://, whose content others on the network can change", "`true` or `false`", "false", func(v reader.Value, f *fetch.Feed) { readFlag(v, &f.Insecure) }},
	text("servers.file", "an absolute path", func(s string) []string { return unless(filepath.IsAbs(s), "it must begin with /") }, func(f *fetch.Feed) *string { return &servers(f).File }, "the table of servers of a `sparecores` feed, as a file, a URL or a key of a ConfigMap"),
	{"servers.url", "its URL", "an http or https URL", "", func(v reader.Value, f *fetch.Feed) { readPlaceURL(v, servers(f)) }},
	text("servers.configMap", "the name of a ConfigMap", content.IsDNS1123Subdomain, func(f *fetch.Feed) *string { return &servers(f).ConfigMap }, "its ConfigMap"),
	text("servers.key", "a key of a ConfigMap", validation.IsConfigMapKey, func(f *fetch.Feed) *string { return &servers(f).Key }, "the key in that ConfigMap"),
	text("instanceType", "the name of an instance type", instanceTypeProblems, func(f *fetch.Feed) *string { return &f.InstanceType }, "the instance type that a `geekbench` or `phoronix` feed is about, if it does not name it"),
	{"vcpus", "number of vCPUs of instance types whose rows and names do not contain it, e.g. `cx42: 8`; without any, rows are invalid", fmt.Sprintf("by instance type, 1 to %d", sample.MaxVCPUs), "", readVCPUs},
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
		v.Fault("must have at most %d feeds, not %d", maxFeeds, len(into.Feeds))
	}
}

// checkFeed adds faults for missing and conflicting values.
func checkFeed(v reader.Value, f *fetch.Feed) {
	if f.Name == "" {
		v.KeyFault("name", "must be set")
	}
	if f.Format == "" {
		v.KeyFault("format", "must be set")
	}
	checkPlace(v, "", &f.Place, f.Insecure)
	if f.Servers != nil {
		checkPlace(v, "servers", f.Servers, f.Insecure)
		if f.Format != feed.SpareCores {
			v.KeyFault("servers", "is only for feeds of the format sparecores")
		}
	}
	if f.InstanceType != "" && !feed.NamesInstanceType(f.Format) {
		v.KeyFault("instanceType", "is only for feeds of the formats geekbench and phoronix")
	}
	if err := feed.CheckBenchmark(f.Format, f.Benchmark); err != nil && slices.Contains(feed.Formats, f.Format) {
		v.KeyFault("benchmark", "%v", err)
	}
	if f.Format == feed.CloudCSV && f.Benchmark == "" {
		v.KeyFault("benchmark", "must be set: the format cloud-csv does not name the benchmark")
	}
}

// checkPlace adds faults for missing and conflicting values of a place, which is under a key
// unless the key is empty.
func checkPlace(v reader.Value, key string, p *fetch.Place, insecure bool) {
	fault := v.Fault
	if key != "" {
		fault = func(format string, args ...any) { v.KeyFault(key, format, args...) }
	}
	inConfigMap := p.ConfigMap != "" || p.Key != ""
	places := 0
	for _, set := range []bool{p.File != "", p.URL != "", inConfigMap} {
		if set {
			places++
		}
	}
	if places != 1 {
		fault("must have exactly one of file, url and configMap, not %d", places)
	}
	if inConfigMap && (p.ConfigMap == "" || p.Key == "") {
		v.KeyFault(cmp.Or(key, "configMap"), "name and key must be set")
	}
	if strings.HasPrefix(strings.ToLower(p.URL), "http://") && !insecure {
		v.KeyFault(cmp.Or(key, "url"), "must begin with https://: others on the network can change the content of http:// URLs, unless insecure is true")
	}
}

// servers returns the place of the table of servers, which it adds if there is none.
func servers(f *fetch.Feed) *fetch.Place {
	if f.Servers == nil {
		f.Servers = &fetch.Place{}
	}
	return f.Servers
}

func readFlag(v reader.Value, into *bool) {
	switch text, _ := v.Text(); text {
	case "true", "false":
		*into = text == "true"
	default:
		v.Fault("must be true or false, not %s", v)
	}
}

func readURL(v reader.Value, into *fetch.Feed) { readPlaceURL(v, &into.Place) }

func readPlaceURL(v reader.Value, into *fetch.Place) {
	// Even an invalid URL may contain a password, so the message does not show it.
	text, _ := v.Text()
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
		v.Fault("must be an http or https URL with a host and without a fragment (#)")
		return
	}
	into.URL = text
}

func readVCPUs(v reader.Value, into *fetch.Feed) {
	into.VCPUs = map[string]int{}
	v.Each(func(instanceType string, v reader.Value) {
		var vcpus int
		readNumber(v, 1, sample.MaxVCPUs, &vcpus)
		into.VCPUs[instanceType] = vcpus
	})
}

// feedNameProblems returns what is wrong with the name of a feed. The name is the source of the
// feed's samples, so it must differ from the sources of samples that are sent.
func feedNameProblems(name string) []string {
	if name == sample.SourceAgent || name == sample.SourceImport {
		return []string{"the name is reserved for samples that are sent through the API"}
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
	return unless(slices.Contains(feed.Formats, feed.Format(name)), "unknown format")
}

// unless returns the problem if the value is not fine.
func unless(fine bool, problem string) []string {
	if fine {
		return nil
	}
	return []string{problem}
}
