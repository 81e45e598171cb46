package bmcsim

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A task is what an action was answered with.
type task struct {
	key, monitor string
	path         string
	ends         time.Time
	result       answer
}

const maxTasks = 256

// asTask carries an action out, and answers with a task where options want it so. What is
// refused at once is no task.
func (b *BMC) asTask(q *request, do func() answer) answer {
	o := b.o.Tasks
	if !slices.ContainsFunc(o.For, func(p string) bool { return glob(key(p), q.key) }) {
		return do()
	}
	if !b.roomForTask(q.now) {
		return refuse(http.StatusServiceUnavailable, "CreateLimitReachedForResource", "The create operation failed because the resource has reached the limit of possible resources.")
	}
	result := answer{status: http.StatusInternalServerError}
	if o.Ends != TaskFails {
		if result = do(); result.status >= 300 {
			return result
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	id := strconv.Itoa(b.next)
	t := &task{path: b.where.tasks + "/" + id, ends: q.now.Add(o.Takes), result: result}
	t.key, t.monitor = key(t.path), b.where.monitors+"/"+id
	if b.tasks == nil {
		b.tasks, b.monitors = map[string]*task{}, map[string]*task{}
	}
	b.tasks[t.key], b.monitors[key(t.monitor)] = t, t
	return answer{status: http.StatusAccepted, body: b.taskBody(t, q.now)}.with("Location", t.monitor).with("Retry-After", "1")
}

// roomForTask drops the oldest task that has ended where there are too many, and
// reports whether there may be one more.
func (b *BMC) roomForTask(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.tasks) >= maxTasks {
		var oldest *task
		for _, t := range b.tasks {
			if !now.Before(t.ends) && (oldest == nil || t.ends.Before(oldest.ends)) {
				oldest = t
			}
		}
		if oldest == nil {
			return false
		}
		delete(b.tasks, oldest.key)
		delete(b.monitors, key(oldest.monitor))
	}
	return true
}

// taskBody is a task as it is shown.
func (b *BMC) taskBody(t *task, now time.Time) map[string]any {
	state, status := "Running", "OK"
	messages := []any{}
	switch {
	case b.o.Tasks.Ends == TaskStaysNew:
		state = "New"
	case now.Before(t.ends):
	case b.o.Tasks.Ends == TaskFails:
		state, status = "Exception", "Critical"
		messages = append(messages, info(registry+"InternalError", "The request failed due to an internal service error."))
	default:
		state = "Completed"
	}
	return map[string]any{
		"@odata.id": t.path, "@odata.type": "#Task.v1_4_3.Task", "Id": t.path[len(b.where.tasks)+1:], "Name": "Task",
		"TaskState": state, "TaskStatus": status, "TaskMonitor": t.monitor, "Messages": messages,
	}
}

// monitor answers for a task and its monitor.
func (b *BMC) monitor(q *request) (answer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, asked := b.tasks[q.key], false
	if t == nil {
		t, asked = b.monitors[q.key], true
	}
	if t == nil {
		return answer{}, false
	}
	ended := !q.now.Before(t.ends) && b.o.Tasks.Ends != TaskStaysNew
	switch {
	case ended && b.o.Tasks.Ends == TaskVanishes:
		return absent(q.URL.Path), true
	case !asked:
		return answer{status: http.StatusOK, body: b.taskBody(t, q.now)}, true
	case !ended:
		return answer{status: http.StatusAccepted, body: b.taskBody(t, q.now)}.with("Location", t.monitor).with("Retry-After", "1"), true
	case t.result.status >= 400:
		return refuse(t.result.status, "InternalError", "The request failed due to an internal service error."), true
	}
	return answer{status: http.StatusOK, body: b.taskBody(t, q.now)}, true
}
