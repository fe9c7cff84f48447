package client

// WatchOption is an option of a watch.
type WatchOption func(*watchOptions)

type watchOptions struct {
	token   string
	onRetry func(error)
}

// ResumeFrom resumes after the event with that token, instead of beginning with the current
// state.
func ResumeFrom(token string) WatchOption {
	return func(o *watchOptions) { o.token = token }
}

// OnRetry calls retry each time a watch is interrupted, with the error that interrupted it.
func OnRetry(retry func(error)) WatchOption {
	return func(o *watchOptions) { o.onRetry = retry }
}
