package cmdtest

import workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"

const (
	addedEvent    = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED
	modifiedEvent = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED
	deletedEvent  = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED
	bookmarkEvent = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
)
