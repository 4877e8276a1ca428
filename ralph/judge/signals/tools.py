"""What kinds of tools there are, by name: closed lists over all agents. Names are compared in lower case.

A tool that is on no list may have changed something: nobody can tell.
"""

from __future__ import annotations

BOOKKEEPING_WORDS = """
todowrite todoread todo_write todo_read todo_list write_todos todo update_plan update_topic plan taskcreate
taskupdate tasklist taskget task_create task_update task_list task_get think sequentialthinking
mcp__sequential-thinking__sequentialthinking askuserquestion ask_user ask_user_question ask_followup_question
request_user_input question skill activate_skill use_skill load_skill toolsearch tool_search enterplanmode
exitplanmode enter_plan_mode exit_plan_mode plan_enter plan_exit report_intent save_memory complete_task
attempt_completion
"""
BOOKKEEPING = frozenset(BOOKKEEPING_WORDS.split())
POLLING_WORDS = """
taskoutput task_output bashoutput bash_output read_bash stop_bash wait wait_agent wait_for monitor read_agent
list_agents get_terminal_output read_process process_status read_background_output list_background_processes
sleep poll
"""
POLLING = frozenset(POLLING_WORDS.split())
SHELLS_WORDS = """
bash shell exec_command exec local_shell local_shell_call container.exec run_shell_command execute_command
execute_bash run_command run_terminal_cmd run_terminal_command run_in_terminal powershell terminal sh
unified_exec shelltoolcall
"""
SHELLS = frozenset(SHELLS_WORDS.split())
WRITERS_WORDS = """
edit multiedit multi_edit write create create_file write_file write_to_file replace insert insert_content append
str_replace str_replace_editor str_replace_based_edit_tool apply_patch apply_diff patch notebookedit
notebook_edit edit_file edit_notebook find_and_replace_code search_replace search_and_replace delete delete_file
move_file rename_file copy_file create_directory file_edit file_change writetoolcall edittoolcall deletetoolcall
"""
WRITERS = frozenset(WRITERS_WORDS.split())
READERS_WORDS = """
read readfile read_file read_many_files view open open_files cat grep glob ls list list_dir list_directory
list_files find find_file find_files file_search search search_dir search_file search_files search_file_content
search_code code_search codesearch codebase_search grep_search rg ripgrep lsp webfetch web_fetch websearch
web_search google_web_search fetch inspect_code expand_code_chunks expand_folder get_file_info get_class_info
get_method_info get_symbol_info get_call_chain get_function_callers get_inheritance_hierarchy goto scroll_up
scroll_down view_image readtoolcall greptoolcall globtoolcall lstoolcall notebookread mcp_resource
read_mcp_resource list_mcp_resources getdiagnostics
"""
READERS = frozenset(READERS_WORDS.split())


def is_bookkeeping(tool: str) -> bool:
    """Return whether the tool keeps notes, plans or asks, and touches neither files nor facts."""
    return tool.lower() in BOOKKEEPING
