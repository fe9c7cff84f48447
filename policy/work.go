package policy

import "github.com/workload-resizer/workload-resizer/policy/keys"

// Work is what is known of the work that pods do. It has no part in the sizes: it says how far production may compare pods.
type Work struct {
	// Pulls means that pods take work from a queue when they have time for it, so that faster ones do more of it.
	Pulls bool
	// Prometheus is the URL of the Prometheus that answers Query, which is in PromQL. Both are empty if the work is not known.
	Prometheus, Query string
}

// Counts reports whether a query counts the work of pods.
func (w *Work) Counts() bool { return w.Query != "" }

// Keys implements keys.Section.
func (w *Work) Keys() []keys.Key {
	return []keys.Key{
		keys.Of("pulls", &w.Pulls, keys.Flag, false, "whether pods pull work from a queue. Faster pods then do more of it, so that their cpu shows nothing: their workloads are not compared, except per unit of work"),
		keys.Of("prometheus", &w.Prometheus, address, "", "the Prometheus that answers the query, as for [objectives](#guard)").Or("none"),
		keys.Of("query", &w.Query, keys.Text, "", "PromQL for how much work pods do at a time: a vector whose elements have the labels `namespace` and `pod`, in any unit that all pods of a workload share, such as requests per second. Several elements of a pod are added up. After each hour, it is evaluated at 12 times, 5 minutes apart: use ranges of 5 minutes. A pod without an element at more than 4 of them has unknown work. The answer may have 24 MiB. An element counts only for pods of the rules with the query. Select series that others cannot write, as by `job`: a pod that Prometheus scrapes may claim to be another one").Or("none"),
	}
}
