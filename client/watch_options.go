package client

// WatchOption changes a watch.
type WatchOption func(*watchOptions)

type watchOptions struct {
	token   string
	onRetry func(error)
}

// ResumeFrom goes on after the event with that token, instead of beginning with
// the present state.
func ResumeFrom(token string) WatchOption {
	return func(o *watchOptions) { o.token = token }
}

// OnRetry has retry called each time that a watch was interrupted, with what
// interrupted it.
func OnRetry(retry func(error)) WatchOption {
	return func(o *watchOptions) { o.onRetry = retry }
}
